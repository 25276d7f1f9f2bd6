package guard_test

import (
	"testing"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/guardtest"
)

func TestMemoryStoreConforms(t *testing.T) {
	guardtest.Exercise(t, func(*testing.T) guard.Store { return guard.NewMemory() })
}
