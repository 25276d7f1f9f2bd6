package web

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/fault"
)

// Faults are those of a local cloud: see package fault.
type Faults interface{ Entries() []fault.Entry }

// maxFaults is how many of those that were asked for are listed.
const maxFaults = 6

// faultsView is what can be let go wrong with a job, and what was.
type faultsView struct {
	Presets []preset
	Asked   []asked // newest first
}

// preset is a fault as a button asks for it: that of the catalog's example, now.
type preset struct {
	Kind, Text, Does string
	JSON             string // as the HTTP interface takes it
}

// asked is a fault that somebody asked for.
type asked struct {
	fault.Entry
	Says string
	Over bool
}

// strike is where a fault took effect, on a timeline.
type strike struct{ X, Text string }

func faultsOf(entries []fault.Entry, job string, w window) *faultsView {
	v := &faultsView{}
	for _, d := range fault.Catalog {
		f, err := fault.Parse(d.Example)
		if err != nil {
			continue // a test parses every example
		}
		if d.Job != fault.None {
			f.Job = job
		}
		f.At = 0
		if b, err := json.Marshal(f); err == nil {
			v.Presets = append(v.Presets, preset{Kind: string(d.Kind), Text: f.String(), Does: d.Does, JSON: string(b)})
		}
	}
	for _, e := range slices.Backward(ofJob(entries, job)) {
		if len(v.Asked) == maxFaults {
			break
		}
		v.Asked = append(v.Asked, asked{Entry: e, Says: saysOfFault(e, w), Over: e.State == fault.Over})
	}
	return v
}

// ofJob are the faults that can happen to a job.
func ofJob(entries []fault.Entry, job string) []fault.Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e fault.Entry) bool { return e.Fault.Job != "" && e.Fault.Job != job })
}

func saysOfFault(e fault.Entry, w window) string {
	text := string(e.State)
	switch {
	case e.State == fault.Armed && e.Count == 0:
		text = "waits for its occasion"
	case e.State == fault.Armed:
		text = "goes on"
	case e.State == fault.Planned:
		text = "from " + w.clock(e.From)
	case e.Count == 0:
		text = "over, and took no effect"
	}
	if e.Last != "" {
		text += "; " + w.clock(e.LastAt) + " " + e.Last
	}
	if !e.Until.IsZero() && e.State != fault.Over {
		text += "; until " + w.clock(e.Until)
	}
	if e.Note != "" {
		text += "; " + e.Note
	}
	return text
}

// strikesOf are the instants at which faults took effect on a job, as far as that is known.
func strikesOf(entries []fault.Entry, job string, w window) []strike {
	var all []strike
	for _, e := range ofJob(entries, job) {
		if e.Count > 0 && between(e.LastAt, w.From, w.Now) && e.Fault.Kind != fault.Skew {
			all = append(all, strike{X: w.x(e.LastAt), Text: w.clock(e.LastAt) + " " + e.Last})
		}
	}
	return all
}

func between(t, from, to time.Time) bool { return !t.Before(from) && !t.After(to) }
