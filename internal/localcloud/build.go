package localcloud

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cronfence/cronfence/internal/localcloud/asl"
	"github.com/cronfence/cronfence/internal/localcloud/assembly"
	"github.com/cronfence/cronfence/internal/localcloud/command"
	"github.com/cronfence/cronfence/internal/localcloud/lambdaapi"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// build makes the parts of the local cloud from the assembly.
func (c *Cloud) build(a *assembly.Assembly) error {
	t := &tasks{lambda: c.lambda, jobs: map[string]*job{}, guards: map[string]bool{}}
	c.async = &async{lambda: c.lambda, clock: c.clock, retries: map[string]int{}, journal: c.journal}
	bus := &events{clock: c.clock, rules: a.Rules, async: c.async, ctx: c.ctx}
	c.states = &stepFunctions{
		clock: c.clock, tasks: t, machines: map[string]*stateMachine{}, changed: bus.statusChanged, work: &c.work,
		ctx: c.ctx, executions: map[string]*execution{}, started: map[string]int{},
	}
	for _, f := range a.Functions {
		c.async.retries[f.Name] = f.Retries
		t.guards[f.Name] = strings.HasPrefix(f.GoPackage, guardPackages)
	}
	if err := c.addMachines(a.Machines); err != nil {
		return err
	}
	if err := c.addJobs(a, t); err != nil {
		return err
	}
	return c.addFunctions(a)
}

func (c *Cloud) addMachines(machines []assembly.Machine) error {
	for _, m := range machines {
		definition, err := asl.Parse([]byte(m.Definition))
		if err != nil {
			return fmt.Errorf("state machine %s: %w", m.ID, err)
		}
		c.states.machines[m.ARN] = &stateMachine{arn: m.ARN, name: m.Name, role: m.RoleARN, definition: definition}
	}
	return nil
}

// addJobs makes a job of every schedule that delivers ticks to a dispatcher.
func (c *Cloud) addJobs(a *assembly.Assembly, t *tasks) error {
	for _, s := range a.Schedules {
		i := slices.IndexFunc(a.Functions, func(f assembly.Function) bool { return f.ARN == s.TargetARN })
		if i >= 0 && a.Functions[i].GoPackage == guardPackages+"sentinel" {
			sweep, err := c.newSweep(s, a.Functions[i])
			if err != nil {
				return fmt.Errorf("schedule %s: %w", s.ID, err)
			}
			c.sweeps = append(c.sweeps, sweep)
			continue
		}
		if i < 0 || a.Functions[i].GoPackage != guardPackages+"dispatcher" {
			c.notices = append(c.notices, fmt.Sprintf("schedule %s does not run: its target %s is no Cronfence dispatcher of this assembly", s.ID, s.TargetARN))
			continue
		}
		j, err := c.newJob(s, a.Functions[i])
		if err != nil {
			return fmt.Errorf("schedule %s: %w", s.ID, err)
		}
		c.jobs = append(c.jobs, j)
		t.jobs[c.states.machines[j.machineARN].name] = j
		c.journal.width = max(c.journal.width, len(j.name))
	}
	if len(c.jobs) == 0 {
		return fmt.Errorf("the assembly has no job: no schedule of it delivers to a Cronfence dispatcher")
	}
	slices.SortFunc(c.jobs, func(x, y *job) int { return strings.Compare(x.name, y.name) })
	if err := c.addCommands(); err != nil {
		return err
	}
	c.noteForeignWork()
	return nil
}

// noteForeignWork names the jobs whose work is another service's and has no command.
func (c *Cloud) noteForeignWork() {
	for _, j := range c.jobs {
		if j.command != "" {
			continue
		}
		for _, resource := range c.states.machines[j.machineARN].definition.Resources() {
			if !runsHere(resource) {
				c.notices = append(c.notices, fmt.Sprintf("job %s fails here: its work is %s; give it a command with --exec %s=COMMAND", j.name, resource, j.name))
			}
		}
	}
}

func (c *Cloud) newJob(s assembly.Schedule, dispatcher assembly.Function) (*job, error) {
	var ev schema.TickEvent
	if err := json.Unmarshal([]byte(s.Input), &ev); err != nil {
		return nil, fmt.Errorf("target input: %w", err)
	}
	options := []schedule.Option{schedule.Starting(s.Start), schedule.Ending(s.End)}
	if s.Timezone != "" {
		options = append(options, schedule.In(s.Timezone))
	}
	parsed, err := schedule.Parse(s.Expression, options...)
	if err != nil {
		return nil, err
	}
	if s.Start.IsZero() { // a rate counts from its creation: that of the local cloud
		parsed = parsed.Anchored(c.config.Start)
	}
	if c.states.machines[ev.Spec.Machine] == nil {
		return nil, fmt.Errorf("state machine %q of job %q is not in the assembly", ev.Spec.Machine, ev.Job)
	}
	return &job{
		name: ev.Job, scheduler: ev.Spec.Scheduler, overlap: ev.Spec.Overlap, table: dispatcher.Environment[schema.EnvTable],
		schedule: parsed, scheduleARN: s.ARN, disabled: s.Disabled, input: s.Input,
		dispatcher: dispatcher.Name, machineARN: ev.Spec.Machine, work: &c.work,
	}, nil
}

// addCommands puts the user's commands in the place of jobs' functions.
func (c *Cloud) addCommands() error {
	for _, name := range slices.Sorted(maps.Keys(c.config.Exec)) {
		i := slices.IndexFunc(c.jobs, func(j *job) bool { return j.name == name })
		if i < 0 {
			var known []string
			for _, j := range c.jobs {
				known = append(known, j.name)
			}
			return &UnknownJobError{Job: name, Known: known}
		}
		c.jobs[i].command = "command of " + name
		h := &command.Handler{Job: name, Line: c.config.Exec[name], Out: c.config.Out}
		if err := c.lambda.Add(lambdaapi.Function{Name: c.jobs[i].command, Handler: h.Handle, Stoppable: true}); err != nil {
			return err
		}
	}
	return nil
}

// UnknownJobError says that a command was given for a job that the assembly does not have.
type UnknownJobError struct {
	Job   string
	Known []string
}

func (e *UnknownJobError) Error() string {
	return fmt.Sprintf("job %q: the assembly has %s", e.Job, strings.Join(e.Known, ", "))
}

// addFunctions adds the functions whose code is in this program, and notes the others.
func (c *Cloud) addFunctions(a *assembly.Assembly) error {
	known := handlers()
	for _, f := range a.Functions {
		make := known[f.GoPackage]
		if make == nil {
			if c.replaced(f, a.Machines) {
				continue
			}
			c.notices = append(c.notices, fmt.Sprintf("function %s does not run: the local cloud runs the functions of %s; give its job a command with --exec", f.ID, guardPackages+"..."))
			continue
		}
		handler := make(Env{
			Variables: f.Environment, Store: c.store(f.Environment[schema.EnvTable]), Machines: c.states,
			Now: c.clock.Now, Sleep: c.clock.Sleep, NewToken: newToken, Out: c.journal,
			Schedules: deployed{jobs: func() []*job { return c.jobs }, since: c.config.Start},
		})
		err := c.lambda.Add(lambdaapi.Function{Name: f.Name, ARN: f.ARN, Timeout: f.Timeout, Handler: handler})
		if err != nil {
			return err
		}
	}
	return nil
}

// replaced tells whether commands stand in for the function wherever it is called.
func (c *Cloud) replaced(f assembly.Function, machines []assembly.Machine) bool {
	called := false
	for _, m := range machines {
		if !strings.Contains(m.Definition, f.ARN) {
			continue
		}
		called = true
		i := slices.IndexFunc(c.jobs, func(j *job) bool { return j.machineARN == m.ARN })
		if i < 0 || c.jobs[i].command == "" {
			return false
		}
	}
	return called
}
