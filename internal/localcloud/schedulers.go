package localcloud

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/telemetry"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/job/notes"
)

// Scheduler is one of the assembly's schedulers as a person operates it: past its functions,
// through the same guards. What is done so appears among the local cloud's lines.
type Scheduler struct {
	Name   string
	Engine *engine.Engine
	Specs  []schema.Spec // of its jobs, as deployed
	// Notes reads what the runs of a tick noted of their progress.
	Notes func(ctx context.Context, job, tick string) ([]notes.Note, error)
}

// Schedulers are the assembly's, by name.
func (c *Cloud) Schedulers() ([]Scheduler, error) {
	var all []Scheduler
	for _, j := range c.jobs {
		var ev schema.TickEvent
		if err := json.Unmarshal([]byte(j.input), &ev); err != nil {
			return nil, fmt.Errorf("target input of job %s: %w", j.name, err)
		}
		at, found := slices.BinarySearchFunc(all, j.scheduler, func(s Scheduler, name string) int { return strings.Compare(s.Name, name) })
		if !found {
			all = slices.Insert(all, at, Scheduler{Name: j.scheduler, Engine: c.engine(j), Notes: c.notesOf(j.table)})
		}
		all[at].Specs = append(all[at].Specs, ev.Spec)
	}
	return all, nil
}

func (c *Cloud) engine(j *job) *engine.Engine {
	return &engine.Engine{
		Store: c.store(j.table), Machines: c.states, Now: c.clock.Now, NewToken: newToken, Timeout: engine.CommandLineTimeout,
		Observe: &telemetry.Writer{Scheduler: j.scheduler, Out: c.journal, Now: c.clock.Now},
	}
}
