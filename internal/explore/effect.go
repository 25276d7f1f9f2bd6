package explore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// op is what an effect asks of the world.
type op uint8

const (
	opCommit op = iota
	opGuard
	opRow
	opRows
	opGuards
	opStart
	opDescribe
	opStop
)

// effect is one request of a call: to the store or to Step Functions. Each is a point at
// which everything else may happen first.
type effect struct {
	op     op
	commit *guard.Commit
	tick   string
	query  guard.RowQuery
	run    string
	input  string
	error  string // of a stop
}

func (e *effect) changes() bool { return e.op == opCommit || e.op == opStart || e.op == opStop }

func (e *effect) ofMachine() bool { return e.op >= opStart }

func (e *effect) String() string {
	switch e.op {
	case opCommit:
		return "commit " + describeCommit(e.commit)
	case opGuard:
		return "read guard"
	case opRow:
		return "read row " + shortTick(e.tick)
	case opRows:
		return "query rows"
	case opGuards:
		return "list guards"
	case opStart:
		return "StartExecution " + shortRun(e.run)
	case opDescribe:
		return "DescribeExecution " + shortRun(e.run)
	default:
		return "StopExecution " + shortRun(e.run)
	}
}

// answer is what an effect came to. It is comparable: what it points to is interned, so
// that equal answers lead to the same continuation.
type answer struct {
	err      error
	guard    *record
	row      *row
	rows     *page
	sight    *sighting
	injected bool // by a fault: the error that follows from it is no fault of the call
}

// heard is an interned answer.
type heard struct {
	answer
	id uint64
}

// sighting is an interned look at an execution.
type sighting struct {
	machine.Execution
	id uint64
}

// page is an interned page of rows.
type page struct {
	guard.RowPage
	id uint64
}

// Errors that faults put in the place of an answer.
var (
	errLost   = errors.New("connection reset")
	errDenied = errors.New("access denied")
	errParked = errors.New("parked")
)

// host is the store and the Step Functions of one replay of a call. It gives the answers
// the call got so far and notes the effect it asks for next; after that everything is
// answered with errParked and nothing the call does counts any more. So the call's own state
// need not be copied: it is a function of its input and its answers.
type host struct {
	answers []step
	at      int
	clock   Millis // the call's own, skew included
	skew    Millis
	next    *effect
	name    string
	tokens  int
}

// step is an answer with the instant at which it arrived.
type step struct {
	answer answer
	at     Millis
}

var (
	_ guard.Store    = (*host)(nil)
	_ machine.Runner = (*host)(nil)
)

func (h *host) do(e effect) answer {
	switch {
	case h.next != nil:
		return answer{err: errParked}
	case h.at == len(h.answers):
		h.next = &e
		return answer{err: errParked}
	}
	s := h.answers[h.at]
	h.at++
	h.clock = s.at + h.skew
	return s.answer
}

func (h *host) now() time.Time { return h.clock.Time() }

// token is the same in every replay, and another call's never.
func (h *host) token() string {
	h.tokens++
	return fmt.Sprintf("%s%d", h.name, h.tokens)
}

func (h *host) Commit(_ context.Context, c guard.Commit) error {
	return h.do(effect{op: opCommit, commit: &c}).err
}

func (h *host) Guard(_ context.Context, _ string) (*guard.Guard, error) {
	a := h.do(effect{op: opGuard})
	return a.guard.value(), a.err
}

func (h *host) Row(_ context.Context, _, tick string) (*guard.Row, error) {
	a := h.do(effect{op: opRow, tick: tick})
	return a.row.value(), a.err
}

func (h *host) Rows(_ context.Context, q guard.RowQuery) (guard.RowPage, error) {
	a := h.do(effect{op: opRows, query: q})
	if a.rows == nil {
		return guard.RowPage{}, a.err
	}
	return a.rows.RowPage, a.err
}

// Gaps is read by nothing that is explored.
func (h *host) Gaps(context.Context, string, string, string, int) ([]guard.Gap, error) {
	return nil, errors.New("not part of the model")
}

func (h *host) Guards(context.Context, string, int) (guard.GuardPage, error) {
	a := h.do(effect{op: opGuards})
	var p guard.GuardPage
	if a.guard != nil {
		p.Guards = []guard.Guard{*a.guard.value()}
	}
	return p, a.err
}

func (h *host) Start(_ context.Context, _, name, input string) error {
	return h.do(effect{op: opStart, run: name, input: input}).err
}

func (h *host) Describe(_ context.Context, executionARN string) (machine.Execution, error) {
	_, run, err := schema.ParseExecutionARN(executionARN)
	if err != nil {
		return machine.Execution{}, err
	}
	a := h.do(effect{op: opDescribe, run: run})
	if a.sight == nil {
		return machine.Execution{}, a.err
	}
	return a.sight.Execution, a.err
}

func (h *host) Stop(_ context.Context, executionARN, errorName, _ string) error {
	_, run, err := schema.ParseExecutionARN(executionARN)
	if err != nil {
		return err
	}
	return h.do(effect{op: opStop, run: run, error: errorName}).err
}
