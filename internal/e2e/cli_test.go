package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/guard"
)

// commandLine is our own, as built and installed.
type commandLine struct {
	t       *testing.T
	program string
	env     []string
}

// try runs a verb and returns what it wrote to standard output and its exit code: 0, or 3 when
// it was refused.
func (c commandLine) try(args ...string) (out []byte, code int) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), c.program, args...)
	cmd.Env = c.env
	var written, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &written, &problems
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 3) {
		c.t.Fatalf("cronfence %s: %v\n%s%s", strings.Join(args, " "), err, &problems, &written)
	}
	return written.Bytes(), cmd.ProcessState.ExitCode()
}

// output runs a verb, which must exit with code.
func (c commandLine) output(code int, args ...string) []byte {
	c.t.Helper()
	out, got := c.try(args...)
	if got != code {
		c.t.Fatalf("cronfence %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, out)
	}
	return out
}

// says runs a verb that writes for people, and looks for a text in what it says.
func (c commandLine) says(args []string, want string) {
	c.t.Helper()
	out := string(c.output(0, args...))
	c.t.Logf("cronfence %s\n%s", strings.Join(args, " "), out)
	if !strings.Contains(out, want) {
		c.t.Errorf("cronfence %s does not say %q:\n%s", strings.Join(args, " "), want, out)
	}
}

// document runs a verb that writes one JSON document.
func document[T any](c commandLine, code int, args ...string) T {
	c.t.Helper()
	return parse[T](c.t, c.output(code, append(args, "--json")...))
}

// lines runs a verb that writes JSON Lines.
func lines[T any](c commandLine, args ...string) []T {
	c.t.Helper()
	var all []T
	for line := range bytes.Lines(c.output(0, append(args, "--json")...)) {
		all = append(all, parse[T](c.t, line))
	}
	return all
}

func parse[T any](t *testing.T, text []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("read %q: %v", text, err)
	}
	return v
}

// patience is how long anything may take that is waited for: far longer than it does. It is
// the job cleanup that takes long, nearly three minutes.
const patience = 8 * time.Minute

// eventually asks once a second until it is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	began := time.Now()
	for !so() {
		if time.Since(began) > patience {
			t.Fatalf("%s: not within %v", what, patience)
		}
		time.Sleep(time.Second)
	}
	t.Logf("%s: after %v", what, time.Since(began).Round(time.Second))
}

// eventuallyEntry waits for a tick to come to an outcome. It may not come to another final one.
func eventuallyEntry(t *testing.T, c commandLine, job, tick string, want guard.Outcome) ops.Entry {
	t.Helper()
	var found ops.Entry
	eventually(t, tick+" of "+job+" is "+string(want), func() bool {
		for _, e := range lines[ops.Entry](c, "history", job) {
			if e.Tick != tick {
				continue
			}
			if e.Final && e.Outcome != want {
				t.Fatalf("tick %s of %s is %+v, want %s", tick, job, e, want)
			}
			found = e
		}
		return found.Outcome == want
	})
	return found
}
