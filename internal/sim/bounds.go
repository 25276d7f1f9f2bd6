package sim

import (
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// bounds are the extremes of what a job's specs have said since the world began. A run, and a tick
// on its way, keep to the spec that they began with, and which one stands on the guard depends on who
// came first: where it matters the checks allow for any of them.
type bounds struct {
	leastRun                    Millis // maximum run time
	shortDeadline, longDeadline Millis // of starts
	longLease                   Millis
}

func (b *bounds) add(s schema.Spec) {
	run, deadline, lease := Millis(s.MaxRunSeconds*1000), Millis(s.StartDeadlineSeconds*1000), Millis(s.LeaseSeconds*1000)
	if *b == (bounds{}) {
		*b = bounds{leastRun: run, shortDeadline: deadline}
	}
	b.leastRun, b.shortDeadline = min(b.leastRun, run), min(b.shortDeadline, deadline)
	b.longDeadline, b.longLease = max(b.longDeadline, deadline), max(b.longLease, lease)
}

// shortWindow and longWindow are within which a tick may still come to its record.
func (b *bounds) shortWindow() Millis { return b.shortDeadline + deliveryGrace }
func (b *bounds) longWindow() Millis  { return b.longDeadline + deliveryGrace }

const deliveryGrace = Millis(schema.DeliveryGrace / time.Millisecond)
