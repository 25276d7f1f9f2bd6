package jobtest_test

import (
	"testing"

	"github.com/cronfence/cronfence/pkg/job/jobtest"
)

// In a test of the job's: what the shop's work writes late must leave no trace.
func ExampleDrill() {
	TestLateWrites := func(t *testing.T) {
		s := newShop(t)
		jobtest.Drill(t, jobtest.Job{Work: s.allFenced, Reset: s.reset, State: s.state})
	}
	_ = TestLateWrites
}
