// Package fault says what may go wrong in the local cloud on request: the words for it, which
// flags, HTTP and buttons share, and the set of those that are asked for. Where they strike is
// the local cloud's matter; what runs in it knows nothing of them.
package fault

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Kind is what goes wrong.
type Kind string

// The kinds. Catalog says what each does.
const (
	Kill     Kind = "kill"
	Abort    Kind = "abort"
	Freeze   Kind = "freeze"
	Twice    Kind = "twice"
	Late     Kind = "late"
	Crash    Kind = "crash"
	Drop     Kind = "drop"
	Throttle Kind = "throttle"
	Skew     Kind = "skew"
)

// Fault is one that is asked for. The zero values mean: every job or function, once, now.
type Fault struct {
	Kind     Kind     `json:"kind"`
	Job      string   `json:"job,omitempty"`
	Function string   `json:"function,omitempty"` // one of Functions
	By       Duration `json:"by,omitempty"`
	For      Duration `json:"for,omitempty"`   // how long, from At on
	Times    int      `json:"times,omitempty"` // how often
	At       Duration `json:"at,omitempty"`    // how long after it is asked for
}

// Duration is a time.Duration in the local cloud's time, in JSON text such as "90s".
type Duration time.Duration

// String leaves out what is zero: 5m, not 5m0s.
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q: must be a duration, such as 90s or 5m", text)
	}
	*d = Duration(v)
	return nil
}

// Need says whether a fault takes something.
type Need string

// The needs.
const (
	None     Need = ""
	Optional Need = "optional"
	Required Need = "required"
)

// Description is what there is to say of a kind: enough to make a form of it.
type Description struct {
	Kind     Kind   `json:"kind"`
	Job      Need   `json:"job,omitempty"`
	Function Need   `json:"function,omitempty"`
	By       Need   `json:"by,omitempty"`
	For      Need   `json:"for,omitempty"`
	Times    Need   `json:"times,omitempty"` // 1 where it is left out, unless there is a For
	Does     string `json:"does"`
	Example  string `json:"example"`
}

// Functions are those whose clocks can be shifted.
var Functions = []string{"dispatcher", "heartbeat", "sentinel", "settler"}

// defaultBy is how much later a second delivery comes.
const defaultBy = Duration(30 * time.Second)

// Catalog describes every kind.
var Catalog = []Description{
	{
		Kind: Kill, Job: Required, Times: Optional, Example: "kill cleanup at 5m",
		Does: "the process of the run at work dies, or of the next run as it begins",
	},
	{
		Kind: Abort, Job: Required, Times: Optional, Example: "abort cleanup",
		Does: "somebody stops the run's execution; a Lambda function works on, as in AWS",
	},
	{
		Kind: Freeze, Job: Required, For: Optional, Example: "freeze cleanup for 10m",
		Does: "one run's execution stands still: no beat and no end on record, while its work goes on",
	},
	{
		Kind: Twice, Job: Optional, By: Optional, For: Optional, Times: Optional, Example: "twice cleanup by 2m",
		Does: "the next tick is delivered twice, D apart (30s)",
	},
	{
		Kind: Late, Job: Optional, By: Required, For: Optional, Times: Optional, Example: "late cleanup by 90s",
		Does: "the next tick is delivered late by D",
	},
	{
		Kind: Crash, Job: Optional, For: Optional, Times: Optional, Example: "crash cleanup times 3",
		Does: "the dispatcher dies between commit and StartExecution; Lambda tries again twice",
	},
	{
		Kind: Drop, Job: Optional, For: Optional, Times: Optional, Example: "drop cleanup for 10m",
		Does: "status events of executions are lost",
	},
	{
		Kind: Throttle, Job: Optional, For: Optional, Times: Optional, Example: "throttle for 2m",
		Does: "the table refuses the functions' requests",
	},
	{
		Kind: Skew, Function: Optional, By: Required, For: Optional, Example: "skew dispatcher by 8s",
		Does: "the clock of one function, or of all, is D ahead (behind: -D)",
	},
}

// Describe finds a kind in the catalog.
func Describe(k Kind) (Description, bool) {
	i := slices.IndexFunc(Catalog, func(d Description) bool { return d.Kind == k })
	if i < 0 {
		return Description{}, false
	}
	return Catalog[i], true
}

// Syntax is how a fault is written.
const Syntax = "KIND [JOB or FUNCTION] [by D] [for D] [times N] [at D]"

// Parse reads a fault as people write it: see Syntax. It checks everything but the job's name.
func Parse(text string) (Fault, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return Fault{}, fmt.Errorf("fault %q: must be %s", text, Syntax)
	}
	f := Fault{Kind: Kind(words[0])}
	d, known := Describe(f.Kind)
	if !known {
		return Fault{}, fmt.Errorf("fault %q: %w", text, unknownKind(f.Kind))
	}
	words = words[1:]
	if len(words) > 0 && (d.Job == Required || !slices.Contains(clauses, words[0])) {
		if d.Function != None {
			f.Function = words[0]
		} else {
			f.Job = words[0]
		}
		words = words[1:]
	}
	given := map[string]bool{}
	for ; len(words) > 0; words = words[2:] {
		if len(words) == 1 || !slices.Contains(clauses, words[0]) {
			return Fault{}, fmt.Errorf("fault %q: %q: must be %s", text, strings.Join(words, " "), Syntax)
		}
		if given[words[0]] {
			return Fault{}, fmt.Errorf("fault %q: %q stands in it twice: must be %s", text, words[0], Syntax)
		}
		given[words[0]] = true
		if err := f.clause(words[0], words[1]); err != nil {
			return Fault{}, fmt.Errorf("fault %q: %s %w", text, words[0], err)
		}
	}
	if err := f.Check(); err != nil {
		return Fault{}, fmt.Errorf("fault %q: %w", text, err)
	}
	return f, nil
}

var clauses = []string{"by", "for", "times", "at"}

func (f *Fault) clause(name, value string) (err error) {
	if name == "times" {
		if f.Times, err = strconv.Atoi(value); err != nil || f.Times < 1 {
			return fmt.Errorf("%q: must be a whole number from 1", value)
		}
		return nil
	}
	d := map[string]*Duration{"by": &f.By, "for": &f.For, "at": &f.At}[name]
	if err := d.UnmarshalText([]byte(value)); err != nil {
		return err
	}
	if *d == 0 || *d < 0 && (name != "by" || f.Kind != Skew) {
		return fmt.Errorf("%q: must be positive", value)
	}
	return nil
}

// String writes a fault as Parse reads it.
func (f Fault) String() string {
	text := string(f.Kind)
	if target := cmp.Or(f.Job, f.Function); target != "" {
		text += " " + target
	}
	for _, c := range []struct {
		name string
		d    Duration
	}{{"by", f.By}, {"for", f.For}} {
		if c.d != 0 {
			text += " " + c.name + " " + c.d.String()
		}
	}
	if f.Times != 0 {
		text += " times " + strconv.Itoa(f.Times)
	}
	if f.At != 0 {
		text += " at " + f.At.String()
	}
	return text
}

// Check tells what a fault lacks or has too much.
func (f Fault) Check() error {
	d, known := Describe(f.Kind)
	if !known {
		return unknownKind(f.Kind)
	}
	for _, c := range []struct {
		name  string
		need  Need
		given bool
	}{
		{"a job", d.Job, f.Job != ""},
		{"a function", d.Function, f.Function != ""},
		{"by D", d.By, f.By != 0},
		{"for D", d.For, f.For != 0},
		{"times N", d.Times, f.Times != 0},
	} {
		switch {
		case c.given && c.need == None:
			return fmt.Errorf("%s takes no %q; write it such as %q", f.Kind, c.name, d.Example)
		case !c.given && c.need == Required:
			return fmt.Errorf("%s needs %q; write it such as %q", f.Kind, c.name, d.Example)
		}
	}
	switch {
	case f.For < 0 || f.Times < 0 || f.At < 0 || f.By < 0 && f.Kind != Skew:
		return fmt.Errorf("%s: must not be negative", f)
	case f.For != 0 && f.Times != 0:
		return fmt.Errorf("%s: either for D or times N", f)
	case f.Function != "" && !slices.Contains(Functions, f.Function):
		return fmt.Errorf("function %q: must be one of %s", f.Function, strings.Join(Functions, ", "))
	}
	return nil
}

func unknownKind(k Kind) error {
	var all []string
	for _, d := range Catalog {
		all = append(all, string(d.Kind))
	}
	return fmt.Errorf("kind %q: must be one of %s", k, strings.Join(all, ", "))
}

// unlimited tells whether only a time or somebody ends the fault.
func (f Fault) unlimited() bool { return f.For != 0 || f.Kind == Skew || f.Kind == Freeze }

// delay is By with its default.
func (f Fault) delay() time.Duration { return time.Duration(cmp.Or(f.By, defaultBy)) }

// Margin is the largest difference of clocks that the protocol allows for.
const Margin = schema.SkewMargin
