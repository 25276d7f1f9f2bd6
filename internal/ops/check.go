package ops

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// What an act may say of itself, in characters: both go on the guard, which stays small, and
// into the row of every tick that a pause skips.
const (
	MaxReason = 160
	MaxBy     = 64
)

// InvalidError says that a request can never be done as it is: another one is needed.
type InvalidError struct{ Reason string }

// Error names the field, what it is and what is allowed.
func (e *InvalidError) Error() string { return e.Reason }

func invalid(format string, args ...any) error {
	return &InvalidError{fmt.Sprintf(format, args...)}
}

// Check tells whether the request can be meant; else it is an *InvalidError.
func (r PauseRequest) Check() error {
	if r.For < 0 || r.For > 0 && r.For < time.Millisecond {
		return invalid("for %v: must be positive, a millisecond at the least", r.For)
	}
	return checkWhoWhy(r.By, r.Reason, true)
}

// Check tells whether the request can be meant; else it is an *InvalidError.
func (r ReleaseRequest) Check() error { return checkWhoWhy(r.By, r.Reason, true) }

// Check tells whether the request can be meant; else it is an *InvalidError.
func (r EndBacklogRequest) Check() error { return checkWhoWhy(r.By, r.Reason, true) }

// Check tells whether the request can be meant; else it is an *InvalidError.
func (r RunRequest) Check() error { return checkWhoWhy(r.By, r.Reason, false) }

func checkWhoWhy(by, reason string, required bool) error {
	if required && strings.TrimSpace(reason) == "" {
		return invalid("reason is not set: say why, for the record")
	}
	if err := checkText("reason", reason, MaxReason); err != nil {
		return err
	}
	return checkText("by", by, MaxBy)
}

// checkText refuses what would not stand in one line as it was written.
func checkText(field, text string, most int) error {
	if n := utf8.RuneCountInString(text); n > most {
		return invalid("%s has %d characters: must be at most %d", field, n, most)
	}
	if !utf8.ValidString(text) {
		return invalid("%s %q: must be UTF-8", field, text)
	}
	for _, r := range text {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return invalid("%s %q: must be one line without control characters, and has %U", field, text, r)
		}
	}
	return nil
}
