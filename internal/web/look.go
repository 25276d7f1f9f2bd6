package web

import "github.com/cronfence/cronfence/pkg/guard"

// look is how an outcome is shown: by its colour and, for those who do not tell colours apart,
// by its shape.
type look struct {
	Tone  string // class: good, bad, late, calm, open, wait
	Glyph string // id of a shape
	Says  string // what it means, for the key
}

// lookOf is the look of an outcome. One that this version does not know is shown as calm.
func lookOf(o guard.Outcome) look {
	if l, known := looks[o]; known {
		return l
	}
	return look{"calm", "g-ring", "not known to this version"}
}

var looks = map[guard.Outcome]look{
	guard.Running:   {"open", "g-run", "runs now"},
	guard.Queued:    {"wait", "g-wait", "waits for the guard"},
	guard.Succeeded: {"good", "g-dot", "ran and ended well"},
	guard.Failed:    {"bad", "g-cross", "ran and failed"},
	guard.TimedOut:  {"bad", "g-cross", "ran longer than it may"},
	guard.Aborted:   {"bad", "g-cross", "was stopped by a person"},
	guard.LeaseLost: {"bad", "g-cross", "gave no sign of life and was taken over"},
	guard.Abandoned: {"bad", "g-gap", "was never started, or its run was lost"},
	guard.Missed:    {"bad", "g-gap", "never came"},
	guard.Expired:   {"late", "g-late", "came too late to start"},
	guard.Replaced:  {"calm", "g-half", "was ended for a newer tick"},
	guard.Skipped:   {"calm", "g-ring", "found the guard taken, or the job paused"},
	guard.Coalesced: {"calm", "g-merge", "gave its place to another tick"},
}
