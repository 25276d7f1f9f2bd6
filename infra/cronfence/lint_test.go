package cronfence_test

import (
	"testing"

	"github.com/cronfence/cronfence/infra/internal/infratest"
)

func TestTemplatesPassCfnLint(t *testing.T) {
	f, all := synth(t), synthTuned(t)
	infratest.CfnLint(t, f.main.file, f.more.file, targets(t).file, all.main.file, all.shared.file, all.other.file)
}
