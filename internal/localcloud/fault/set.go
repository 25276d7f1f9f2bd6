package fault

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Clock is the local cloud's time.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// State is how far a fault is.
type State string

// The states.
const (
	Planned State = "planned" // its time has not come
	Armed   State = "armed"   // it strikes at the next occasion
	Over    State = "over"
)

// Entry is a fault of a set.
type Entry struct {
	ID     int       `json:"id"`
	Fault  Fault     `json:"fault"`
	Text   string    `json:"text"` // the fault as people write it
	State  State     `json:"state"`
	From   time.Time `json:"from"`            // local
	Until  time.Time `json:"until,omitzero"`  // local; zero where only strikes or somebody end it
	Count  int       `json:"count"`           // how often it took effect
	Run    string    `json:"run,omitempty"`   // the one run that is frozen
	Ended  time.Time `json:"ended,omitzero"`  // local
	Last   string    `json:"last,omitempty"`  // what it did last
	Note   string    `json:"note,omitempty"`  // what is to be known of it
	LastAt time.Time `json:"lastAt,omitzero"` // local
}

type entry struct {
	Entry
	stops []func() bool // timers
	done  chan struct{} // closed when it is over
}

// Set is the faults that were asked for. Its zero value is not of use: see NewSet.
type Set struct {
	clock Clock
	known func(job string) error
	tell  func(job, text string)
	// armed hears of a fault that begins to wait for its occasion; what can be done at once
	// is done then.
	armed func(Fault)

	mu      sync.Mutex
	closed  bool
	entries []*entry
}

// NewSet returns an empty set. known returns an error for a job that is not there; tell takes
// what took effect, with the job that it happened to or "".
func NewSet(clock Clock, known func(job string) error, tell func(job, text string), armed func(Fault)) *Set {
	return &Set{clock: clock, known: known, tell: tell, armed: armed}
}

// Check checks a fault against the jobs too.
func (s *Set) Check(f Fault) error {
	if err := f.Check(); err != nil {
		return err
	}
	if f.Job != "" {
		return s.known(f.Job)
	}
	return nil
}

// Add asks for a fault.
func (s *Set) Add(f Fault) (Entry, error) {
	if err := s.Check(f); err != nil {
		return Entry{}, err
	}
	text := f.String()
	if f.Times == 0 && !f.unlimited() {
		f.Times = 1
	}
	s.mu.Lock()
	now := s.clock.Now()
	e := &entry{done: make(chan struct{}), Entry: Entry{
		ID: len(s.entries) + 1, Fault: f, Text: text, State: Planned, From: now.Add(time.Duration(f.At)),
	}}
	if f.For != 0 {
		e.Until = e.From.Add(time.Duration(f.For))
	}
	s.entries = append(s.entries, e)
	if f.At != 0 && !s.closed {
		e.stops = append(e.stops, s.clock.AfterFunc(time.Duration(f.At), func() { s.arm(e) }))
	}
	s.mu.Unlock()
	if f.At == 0 {
		s.arm(e)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return e.Entry, nil
}

func (s *Set) arm(e *entry) {
	s.mu.Lock()
	if s.closed || e.State != Planned {
		s.mu.Unlock()
		return
	}
	e.State = Armed
	if e.Fault.For != 0 {
		e.stops = append(e.stops, s.clock.AfterFunc(time.Duration(e.Fault.For), func() { s.end(e, "its time is over") }))
	}
	if e.Fault.Kind == Skew {
		s.noteSpread(e)
	}
	s.mu.Unlock()
	s.armed(e.Fault)
}

// UnknownError says that there is no such fault, or none that can be ended.
type UnknownError struct{ ID int }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("fault %d: there is none that goes on", e.ID)
}

// End ends a fault before its time: a frozen run thaws, a clock is right again.
func (s *Set) End(id int) (Entry, error) {
	s.mu.Lock()
	i := slices.IndexFunc(s.entries, func(e *entry) bool { return e.ID == id && e.State != Over })
	if i < 0 {
		s.mu.Unlock()
		return Entry{}, &UnknownError{id}
	}
	e := s.entries[i]
	s.mu.Unlock()
	s.end(e, "ended")
	s.mu.Lock()
	defer s.mu.Unlock()
	return e.Entry, nil
}

// end is told where somebody could miss it: of what goes on for a time.
func (s *Set) end(e *entry, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.State == Over {
		return
	}
	s.over(e)
	switch {
	case e.Count > 1:
		s.tell(e.Fault.Job, fmt.Sprintf("%s: %s; it took effect %d times", e.Text, why, e.Count))
	case e.Fault.unlimited():
		s.tell(e.Fault.Job, fmt.Sprintf("%s: %s", e.Text, why))
	}
}

// over closes an entry; the caller holds mu.
func (s *Set) over(e *entry) {
	e.State, e.Ended = Over, s.clock.Now()
	for _, stop := range e.stops {
		stop()
	}
	close(e.done)
}

// Entries are all faults that were asked for, in that order.
func (s *Set) Entries() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []Entry{}
	for _, e := range s.entries {
		all = append(all, e.Entry)
	}
	return all
}

// Close ends all timers and lets go of what is held.
func (s *Set) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, e := range s.entries {
		if e.State != Over {
			s.over(e)
		}
	}
}

// find returns the oldest armed fault of a kind that fits the job; the caller holds mu.
func (s *Set) find(k Kind, job string) *entry {
	for _, e := range s.entries {
		if e.State == Armed && e.Fault.Kind == k && (e.Fault.Job == "" || e.Fault.Job == job) {
			return e
		}
	}
	return nil
}

// Take lets a fault of the kind strike, if there is one: what is the name of what it strikes
// and what becomes of that.
func (s *Set) Take(k Kind, job, what string) (by time.Duration, struck bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.find(k, job)
	if e == nil {
		return 0, false
	}
	s.strike(e, job, what)
	if e.Fault.Times != 0 && e.Count >= e.Fault.Times {
		s.over(e)
	}
	return e.Fault.delay(), true
}

// strike puts an effect on record; the caller holds mu. Of requests that are refused one after
// the other the first is told, and the number at the end.
func (s *Set) strike(e *entry, job, what string) {
	e.Count++
	e.Last, e.LastAt = what, s.clock.Now()
	if e.Fault.Kind != Throttle || e.Count == 1 || e.Count == e.Fault.Times {
		text := fmt.Sprintf("%s: %s", e.Text, what)
		if e.Fault.Times > 1 {
			text += fmt.Sprintf(" (%d of %d)", e.Count, e.Fault.Times)
		}
		s.tell(job, text)
	}
}

// Hold keeps a run that is frozen where it is, until it is thawed or ctx ends.
func (s *Set) Hold(ctx context.Context, job, run, state string) {
	s.mu.Lock()
	var e *entry
	for _, other := range s.entries {
		fits := other.State == Armed && other.Fault.Kind == Freeze && other.Fault.Job == job
		if fits && (other.Run == "" || other.Run == run) {
			e = other
			break
		}
	}
	if e == nil {
		s.mu.Unlock()
		return
	}
	if e.Run == "" {
		e.Run = run
		s.strike(e, job, fmt.Sprintf("%s stands still before %q", run, state))
	}
	s.mu.Unlock()
	select {
	case <-e.done:
	case <-ctx.Done(): // the run is over
		s.end(e, run+" is over")
	}
}

// Now is what a function's clock shows at a local instant.
func (s *Set) Now(function string, now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Add(s.shift(function, true))
}

// shift sums up what the function's clock is off by; the caller holds mu.
func (s *Set) shift(function string, read bool) time.Duration {
	var by time.Duration
	for _, e := range s.entries {
		if e.State != Armed || e.Fault.Kind != Skew || e.Fault.Function != "" && e.Fault.Function != function {
			continue
		}
		by += time.Duration(e.Fault.By)
		if read && e.Count == 0 {
			s.strike(e, "", fmt.Sprintf("the %s's clock is %v off; %s", function, time.Duration(e.Fault.By), e.Note))
		}
	}
	return by
}

// noteSpread says whether the clocks still are what the protocol allows for; the caller holds mu.
// The true time counts too: Step Functions and the operators go by it.
func (s *Set) noteSpread(e *entry) {
	var least, most time.Duration
	for _, f := range Functions {
		by := s.shift(f, false)
		least, most = min(least, by), max(most, by)
	}
	e.Note = fmt.Sprintf("clocks differ by %v, within the skew margin of %v", most-least, Margin)
	if most-least > Margin {
		e.Note = fmt.Sprintf("clocks differ by %v, BEYOND the skew margin of %v: nothing is promised", most-least, Margin)
	}
}
