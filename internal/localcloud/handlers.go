package localcloud

import (
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/cronfence/cronfence/internal/dispatch"
	"github.com/cronfence/cronfence/internal/example"
	"github.com/cronfence/cronfence/internal/heartbeat"
	"github.com/cronfence/cronfence/internal/localcloud/clock"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/sentinel"
	"github.com/cronfence/cronfence/internal/settle"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Env is what an in-process handler runs on: what its Lambda main would get from AWS.
type Env struct {
	Variables map[string]string // of the function, as synthesized
	Store     guard.Store
	Machines  machine.Runner
	Schedules sentinel.Schedules
	Notices   sentinel.Notices
	Now       func() time.Time
	Clock     *clock.Clock     // of jobs
	Tables    *dynamodb.Client // of jobs
	NewToken  func() string
	Out       io.Writer
}

const (
	guardPackages = "github.com/cronfence/cronfence/functions/"
	jobPackages   = "github.com/cronfence/cronfence/infra/app/jobs/"
)

// handlers makes the handlers of this repository's functions, by the import path of
// their main package.
func handlers() map[string]func(Env) any {
	all := map[string]func(Env) any{
		guardPackages + "dispatcher": func(e Env) any {
			h := &dispatch.Handler{
				Scheduler: e.Variables[schema.EnvScheduler], Store: e.Store, Machines: e.Machines,
				Now: e.Now, NewToken: e.NewToken, Out: e.Out,
			}
			return h.Handle
		},
		guardPackages + "heartbeat": func(e Env) any {
			h := &heartbeat.Handler{Scheduler: e.Variables[schema.EnvScheduler], Store: e.Store, Now: e.Now, Out: e.Out}
			return h.Handle
		},
		guardPackages + "sentinel": func(e Env) any {
			h := &sentinel.Handler{
				Scheduler: e.Variables[schema.EnvScheduler], Store: e.Store, Machines: e.Machines, Schedules: e.Schedules,
				Now: e.Now, NewToken: e.NewToken, Notices: e.Notices, Out: e.Out,
			}
			return h.Handle
		},
		guardPackages + "settler": func(e Env) any {
			h := &settle.Handler{
				Scheduler: e.Variables[schema.EnvScheduler], Store: e.Store, Machines: e.Machines,
				Now: e.Now, NewToken: e.NewToken, Out: e.Out,
			}
			return h.Handle
		},
	}
	for name, handler := range example.Jobs {
		all[jobPackages+name] = func(e Env) any {
			return handler(example.App{Tables: e.Tables, Catalog: e.Variables[example.EnvCatalog], Clock: e.Clock})
		}
	}
	return all
}
