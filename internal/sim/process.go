package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// process is one invocation of our code: a Lambda or the command line. It runs as a
// coroutine that stands still at each of its effects, so that any other process may act
// between any two of them; code between two effects takes no time.
type process struct {
	w     *World
	name  string
	skew  Millis // of its clock
	dies  Millis // Lambda's timeout: nothing is sent or answered later
	shown string // the run that the person behind it was shown, if any
	read  Millis // when it last looked at its clock: it decides by that

	on     *coroutine
	done   func(outcome)
	result outcome
}

// outcome is how an invocation ended for whoever made it.
type outcome struct {
	err     error
	died    bool // crashed, or not done in time
	skipped bool // it wrote a skip
	hurt    bool // a fault struck it
}

// errKilled unwinds the coroutine of a process that died.
var errKilled = errors.New("the process died")

// errLost is what a client sees whose request's answer never came.
var errLost = errors.New("connection reset")

// spawn starts a process now. done hears how it ended, once.
func (w *World) spawn(name string, timeout time.Duration, body func(p *process) error, done func(outcome)) {
	p := &process{w: w, name: name, skew: w.skew(), dies: w.clock.Add(timeout), done: done}
	if w.faultless {
		p.result.err = body(p)
		p.finish()
		return
	}
	p.on = w.crew.take()
	p.on.body = func() {
		defer func() {
			if r := recover(); r != nil && r != any(errKilled) {
				p.result.err = fmt.Errorf("panic: %v", r)
				w.violate("panic", p.result.err.Error())
			}
		}()
		p.result.err = body(p)
	}
	p.step()
}

// step lets the process run up to its next effect.
func (p *process) step() {
	if p.on.resume(); p.on.body == nil {
		p.finish()
	}
}

func (p *process) finish() {
	if p.on != nil {
		p.w.crew.idle = append(p.w.crew.idle, p.on)
		p.on = nil
	}
	if p.done != nil {
		p.done(p.result)
	}
}

// wait lets time go by within the process; past its end it is dead.
func (p *process) wait(d Millis) {
	at := p.w.clock + d
	p.w.queue.add(event{at: min(at, p.dies), wake: p, dies: at >= p.dies})
	p.stand()
}

// stand waits to be resumed, for good or for the end.
func (p *process) stand() {
	if p.on.pause(struct{}{}); p.result.died {
		panic(errKilled)
	}
}

// kill ends the process where it stands.
func (p *process) kill() {
	p.result.died = true
	if p.w.tracing {
		p.w.log(p.name, "dies")
	}
	p.step()
}

// die is a crash at this very point.
func (p *process) die() {
	p.w.queue.add(event{at: p.w.clock, wake: p, dies: true})
	p.stand()
}

// now is the process' own clock.
func (p *process) now() time.Time {
	p.read = p.w.clock
	return (p.w.clock + p.skew).Time()
}

func (p *process) engine() *engine.Engine {
	return &engine.Engine{
		Store: store{p}, Machines: runner{p}, Now: p.now, NewToken: p.w.token,
		Timeout: schema.DispatcherTimeout, Observe: observer{p},
	}
}

// observer hears what the engine tells its observer.
type observer struct{ p *process }

func (observer) Ended(guard.Row) {}

func (observer) Lost(guard.Row) {}

func (observer) Missed(guard.Gap) {}

func (observer) Given(guard.Row) {}

func (observer) Going(guard.Row) {}

func (o observer) Warn(_, run, what string, err error) {
	if o.p.w.tracing {
		o.p.w.log(o.p.name, "warns: %s %s: %v", run, what, err)
	}
}

// effect is a request to the store or to Step Functions.
type effect struct {
	is   Transition
	what string // for the trace; empty when nobody reads it
	run  func() error
	// again, if set, is the same request sent a second time because its answer was lost.
	again func() error
}

func (e effect) reads() bool { return e.is == Read || e.is == Describe }

// do carries an effect out, or lets the fault of the moment strike.
func (p *process) do(_ context.Context, e effect) error {
	w := p.w
	if w.faultless {
		return e.run()
	}
	f := w.faults.strike(e)
	p.result.hurt = p.result.hurt || f != NoFault
	switch f {
	case CrashBefore:
		p.hit(f, e)
		p.die()
	case Paused:
		p.hit(f, e)
		p.wait(w.between(1_000, 40_000))
	default:
		p.wait(w.latency())
	}
	if f == Busy {
		p.hit(f, e)
		return w.busy(e)
	}
	w.strikeAmid(e.is)
	err := e.run()
	if p.skew != 0 && err == nil {
		w.faults.took(Skewed, e.is)
	}
	if w.tracing {
		p.w.log(p.name, "%s: %s", e.what, answer(err))
	}
	switch {
	case f == CrashAfter:
		p.hit(f, e)
		p.die()
	case f == LostAnswer && err == nil:
		p.hit(f, e)
		p.wait(w.latency())
		if e.again != nil && w.rng.IntN(2) == 0 {
			return e.again()
		}
		return errLost
	}
	p.wait(w.latency())
	return err
}

func (p *process) hit(f Fault, e effect) {
	p.w.faults.took(f, e.is)
	if p.w.tracing {
		p.w.log(p.name, "FAULT %s at %s", f, e.what)
	}
}

func answer(err error) string {
	if err == nil {
		return "ok"
	}
	return err.Error()
}
