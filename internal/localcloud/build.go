package localcloud

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
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
	t := &tasks{lambda: c.lambda, journal: c.journal, jobs: map[string]*job{}, guards: map[string]bool{}, begun: c.workBegun}
	c.async = &async{lambda: c.lambda, clock: c.clock, policies: map[string]retryPolicy{}, journal: c.journal}
	bus := &events{clock: c.clock, rules: a.Rules, async: c.async, ctx: c.ctx, lost: c.statusLost}
	c.states = &stepFunctions{
		clock: c.clock, tasks: t, machines: map[string]*stateMachine{}, changed: bus.statusChanged, work: &c.work,
		ctx: c.ctx, executions: map[string]*execution{}, started: map[string]int{}, hold: c.hold,
		observe: c.meters.entered,
	}
	t.states = c.states
	for _, f := range a.Functions {
		c.async.policies[f.Name] = retryPolicy{retries: f.Retries, maxAge: f.MaxAge, deadLetter: f.DeadLetter}
		t.guards[f.Name] = strings.HasPrefix(f.GoPackage, guardPackages)
	}
	if err := c.addJobs(a); err != nil {
		return err
	}
	if err := c.serveTables(a, os.Environ()); err != nil {
		return err
	}
	if err := c.addCommands(); err != nil {
		return err
	}
	if err := c.addMachines(a.Machines); err != nil {
		return err
	}
	for _, j := range c.jobs {
		m := c.states.machines[j.machineARN]
		if m == nil {
			return fmt.Errorf("state machine %q of job %q is not in the assembly", j.machineARN, j.name)
		}
		t.jobs[m.name] = j
		c.noteForeignWork(j, m)
	}
	if err := c.addFunctions(a); err != nil {
		return err
	}
	c.noteClock()
	return nil
}

// addMachines reads the definitions. What cannot run and is no job's is only named: nobody
// may ever start it.
func (c *Cloud) addMachines(machines []assembly.Machine) error {
	for _, m := range machines {
		j := c.jobOfMachine(m.ARN)
		text := m.Definition
		if j != nil && j.command != "" {
			var err error
			if text, err = replaceWork(m.Definition, j.command); err != nil {
				return fmt.Errorf("state machine %s: %w", m.ID, err)
			}
		}
		definition, err := asl.Parse([]byte(text))
		switch {
		case err != nil && j != nil:
			return fmt.Errorf("state machine %s: %w; or run the job as a command: --exec %s=COMMAND", m.ID, err, j.name)
		case err != nil:
			c.notices = append(c.notices, fmt.Sprintf("state machine %s does not run: %v", m.ID, err))
			continue
		}
		c.states.machines[m.ARN] = &stateMachine{arn: m.ARN, name: m.Name, role: m.RoleARN, definition: definition, text: text}
	}
	return nil
}

// addJobs makes a job of every schedule that delivers ticks to a dispatcher.
func (c *Cloud) addJobs(a *assembly.Assembly) error {
	for _, s := range a.Schedules {
		i := slices.IndexFunc(a.Functions, func(f assembly.Function) bool { return f.ARN == s.TargetARN })
		if i >= 0 && a.Functions[i].GoPackage == guardPackages+"sentinel" {
			if s.Disabled {
				c.notices = append(c.notices, fmt.Sprintf("schedule %s is disabled: nothing sweeps", s.ID))
				continue
			}
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
		c.journal.width = max(c.journal.width, len(j.name))
	}
	if len(c.jobs) == 0 {
		return fmt.Errorf("the assembly has no job: no schedule of it delivers to a Cronfence dispatcher")
	}
	slices.SortFunc(c.jobs, func(x, y *job) int { return strings.Compare(x.name, y.name) })
	return nil
}

// noteForeignWork names a job's tasks that are another service's, or of a state machine
// that is not here.
func (c *Cloud) noteForeignWork(j *job, m *stateMachine) {
	tasks := m.definition.TaskResources()
	for _, state := range slices.Sorted(maps.Keys(tasks)) {
		resource := tasks[state]
		if runsHere(resource) && (!startsExecution(resource) || c.startsKnown(j, m)) {
			continue
		}
		c.notices = append(c.notices, fmt.Sprintf("job %s: its task %q (%s) does not run here and fails; give the job a command with --exec %s=COMMAND", j.name, state, resource, j.name))
	}
}

// startsKnown tells whether the machine names another one that is here.
func (c *Cloud) startsKnown(j *job, m *stateMachine) bool {
	for arn := range c.states.machines {
		if arn != j.machineARN && strings.Contains(m.text, arn) {
			return true
		}
	}
	return false
}

func (c *Cloud) newJob(s assembly.Schedule, dispatcher assembly.Function) (*job, error) {
	var ev schema.TickEvent
	if err := json.Unmarshal([]byte(s.Input), &ev); err != nil {
		return nil, fmt.Errorf("target input: %w", err)
	}
	parsed, err := c.parseSchedule(s)
	if err != nil {
		return nil, err
	}
	return &job{
		name: ev.Job, scheduler: ev.Spec.Scheduler, overlap: ev.Spec.Overlap, table: dispatcher.Environment[schema.EnvTable],
		schedule: parsed, scheduleARN: s.ARN, disabled: s.Disabled, input: s.Input,
		dispatcher: dispatcher.Name, machineARN: ev.Spec.Machine, work: &c.work, window: s.Window,
		handOver: retryPolicy{retries: s.Retries, maxAge: s.MaxAge, deadLetter: s.DeadLetter},
	}, nil
}

func (c *Cloud) parseSchedule(s assembly.Schedule) (schedule.Schedule, error) {
	options := []schedule.Option{schedule.Starting(s.Start), schedule.Ending(s.End)}
	if s.Timezone != "" {
		options = append(options, schedule.In(s.Timezone))
	}
	parsed, err := schedule.Parse(s.Expression, options...)
	if err == nil && s.Start.IsZero() { // a rate counts from its creation: that of the local cloud
		parsed = parsed.Anchored(c.config.Start)
	}
	return parsed, err
}

// addCommands puts the user's commands in the place of jobs' functions.
func (c *Cloud) addCommands() error {
	for _, name := range slices.Sorted(maps.Keys(c.config.Exec)) {
		j := c.jobNamed(name)
		if j == nil {
			return c.unknownJob(name)
		}
		j.command = "command of " + name
		h := &command.Handler{
			Job: name, Line: c.config.Exec[name], Env: commandEnv(os.Environ(), c.tables.URL()), Out: workWriter{c.config.Out, c.lines, name, []string{name}},
		}
		if err := c.lambda.Add(lambdaapi.Function{Name: j.command, Handler: h.Handle, Stoppable: true}); err != nil {
			return err
		}
	}
	return nil
}

// jobNamed returns a job, or nil.
func (c *Cloud) jobNamed(name string) *job {
	return c.findJob(func(j *job) bool { return j.name == name })
}

// jobOfMachine returns the job that a state machine runs, or nil.
func (c *Cloud) jobOfMachine(arn string) *job {
	return c.findJob(func(j *job) bool { return j.machineARN == arn })
}

func (c *Cloud) findJob(is func(*job) bool) *job {
	if i := slices.IndexFunc(c.jobs, is); i >= 0 {
		return c.jobs[i]
	}
	return nil
}

func (c *Cloud) unknownJob(name string) error {
	e := &UnknownJobError{Job: name}
	for _, j := range c.jobs {
		e.Known = append(e.Known, j.name)
	}
	return e
}

// UnknownJobError says that something was asked for of a job that the assembly does not have.
type UnknownJobError struct {
	Job   string
	Known []string
}

func (e *UnknownJobError) Error() string {
	return fmt.Sprintf("job %q: the assembly has %s", e.Job, strings.Join(e.Known, ", "))
}

// addFunctions adds the functions whose code is in this program and those that run as
// built, and notes the others.
func (c *Cloud) addFunctions(a *assembly.Assembly) error {
	known := handlers()
	for _, f := range a.Functions {
		make := known[f.GoPackage]
		if make == nil {
			if err := c.addBuilt(f, a.Machines); err != nil {
				return err
			}
			continue
		}
		handler := make(c.faulty(Env{
			Variables: f.Environment, Store: c.store(f.Environment[schema.EnvTable]), Machines: c.states,
			Now: c.clock.Now, Clock: c.clock, Tables: c.dynamo, NewToken: newToken, Out: c.journal,
			Notices:   c.journal,
			Schedules: deployed{jobs: func() []*job { return c.jobs }, since: c.config.Start},
		}, f))
		function := lambdaapi.Function{Name: f.Name, ARN: f.ARN, Timeout: f.Timeout, Handler: handler}
		if m := c.meters.of(f); m != nil {
			function.Invoked = func() { m.invocations.Add(1) }
		}
		err := c.lambda.Add(function)
		if err != nil {
			return err
		}
	}
	return nil
}

// addBuilt adds a function that runs as built, or notes why it does not.
func (c *Cloud) addBuilt(f assembly.Function, machines []assembly.Machine) error {
	if c.replaced(f, machines) {
		return nil
	}
	program, err := c.programOf(f)
	if err != nil {
		c.notices = append(c.notices, fmt.Sprintf("function %s does not run here: %v; give its job a command with --exec", f.ID, err))
		return nil
	}
	program.Out = workWriter{c.config.Out, c.lines, f.Name, c.jobsOf(f, machines)}
	c.processes = true
	return c.lambda.Add(lambdaapi.Function{Name: f.Name, ARN: f.ARN, Timeout: f.Timeout, Program: program})
}

// jobsOf are the jobs whose machines call the function.
func (c *Cloud) jobsOf(f assembly.Function, machines []assembly.Machine) []string {
	var names []string
	for _, m := range machines {
		for _, j := range c.jobs {
			if j.machineARN == m.ARN && strings.Contains(m.Definition, f.ARN) {
				names = append(names, j.name)
			}
		}
	}
	return names
}

// replaced tells whether commands stand in for the function wherever it is called.
func (c *Cloud) replaced(f assembly.Function, machines []assembly.Machine) bool {
	called := false
	for _, m := range machines {
		if !strings.Contains(m.Definition, f.ARN) {
			continue
		}
		called = true
		if j := c.jobOfMachine(m.ARN); j == nil || j.command == "" {
			return false
		}
	}
	return called
}
