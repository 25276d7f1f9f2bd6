package job

import (
	"context"

	"github.com/cronfence/cronfence/pkg/job/internal/step"
)

// Point is a place at which the drill of package jobtest may hold a run. The packages that
// fence writes have one before and after each write that they make themselves. The work calls
// Point, with its own context, before and after every other write - a plain one, or one whose
// fence it checks by itself - and never while it holds a lock or an open transaction, for
// which the drill's other run would wait. Outside a drill it does nothing.
func Point(ctx context.Context) { step.At(ctx) }
