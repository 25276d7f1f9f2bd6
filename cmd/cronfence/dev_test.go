package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud"
)

// interrupted runs `cronfence dev` with those flags and ends it as Ctrl-C does.
func interrupted(t *testing.T, flags ...string) (code int, out, errOut string) {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	var o, e bytes.Buffer
	code = run(ctx, append([]string{"dev", "--listen", "127.0.0.1:0"}, flags...), &o, &e)
	return code, o.String(), e.String()
}

func TestCtrlCIsTheEndOnlyWithoutFor(t *testing.T) {
	if code, out, errOut := interrupted(t); code != 0 || errOut != "" {
		t.Errorf("code %d\n%s%s", code, out, errOut)
	}
	for _, flags := range [][]string{{"--for", "1h"}, {"--for", "1h", "--json"}} {
		code, out, errOut := interrupted(t, flags...)
		if code != 1 || !strings.Contains(errOut, "cronfence: ended early, at 20") || !strings.Contains(errOut, "--for 1h0m0s") {
			t.Errorf("%q: code %d\n%s%s", flags, code, out, errOut)
		}
	}
}

func TestTheTableSaysWhatIsInFlight(t *testing.T) {
	for inFlight, want := range map[int]string{
		0: "every tick has exactly one final outcome\n",
		2: "ended early: runs in flight have no outcome: 2\n",
	} {
		var out bytes.Buffer
		if err := writeTable(&out, &localcloud.Report{Interrupted: true, InFlight: inFlight}); err != nil || !strings.HasSuffix(out.String(), want) {
			t.Errorf("%d: got %v and %s", inFlight, err, out.String())
		}
	}
}

func TestHighSpeedsAreNoted(t *testing.T) {
	const note = "note: at more than 100 times real time"
	for speed, want := range map[string]bool{"100": false, "101": true} {
		if _, out, _ := interrupted(t, "--speed", speed); strings.Contains(out, note) != want {
			t.Errorf("speed %s: want the note %v\n%s", speed, want, out)
		}
	}
}
