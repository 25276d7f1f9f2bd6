package main

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/ops/devapi"
	"github.com/cronfence/cronfence/internal/testworld"
)

// lines reads JSON Lines.
func lines[T any](t *testing.T, text string) []T {
	t.Helper()
	var all []T
	for d := json.NewDecoder(strings.NewReader(text)); d.More(); {
		var v T
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// A minutely job whose ticks did not come for two hours: history has them in one line, why
// explains each, and the next tick runs.
func TestAnOutageIsOneLineAndEachOfItsTicksIsExplained(t *testing.T) {
	w := newTown(t)
	spec := testworld.Minutely("cleanup")
	w.Established(spec, "01:59")
	w.At("04:00:00")
	w.Tick(spec, "04:00")
	w.At("04:25:00")
	w.Sweep("cleanup")
	at := " --dev " + w.url
	missed := lines[ops.Entry](t, expect(t, "history cleanup --outcome missed --json"+at, 0, "", ""))
	count := 0
	for _, e := range missed {
		count += e.Count
	}
	if len(missed) == 0 || len(missed) > 2 || missed[len(missed)-1].Count != 120 {
		t.Errorf("got %d lines of %d ticks: %+v", len(missed), count, missed)
	}
	expect(t, "why cleanup 2026-09-07T03:17:00Z"+at, 0, "It is one of 120 ticks, from 2026-09-07T02:00:00Z to 2026-09-07T03:59:00Z, that never came.", "")
	expect(t, "why cleanup 2026-09-07T04:00:00Z"+at, 0, "took the guard at 2026-09-07T04:00:00Z", "")
	expect(t, "backfill cleanup --from 2026-09-07T02:00:00Z --to 2026-09-07T03:59:00Z --dry-run"+at, 0, "120 ticks of cleanup", "")
	expect(t, "backfill cleanup --from 2020-01-01T00:00:00Z --to 2026-09-01T00:00:00Z --dry-run"+at, 2, "", "has 3506401 ticks: must be at most 10000")
}

// An edited schedule makes nothing retroactive: what the old one planned is told as that, and
// the next tick is the new one's.
func TestAnEditedScheduleIsNotJudgedByItsPast(t *testing.T) {
	w := newTown(t)
	late, early := testworld.Spec("mail", "cron(0 23 * * ? *)"), testworld.Spec("mail", "cron(0 5 * * ? *)")
	w.Established(late, "00:00")
	w.At("12:00:00")
	if err := w.Engine().Introduce(t.Context(), early); err != nil {
		t.Fatal(err)
	}
	w.Sweep("mail")
	at := " --dev " + w.url
	if s := document[ops.Status](t, "status mail --json"+at, 0); s.Holder != nil || s.NextTick.Format("01-02 15:04") != "09-08 05:00" || len(s.Recent) != 1 {
		t.Errorf("after the edit: got %+v", s)
	}
	expect(t, "why mail 2026-09-07T05:00:00Z"+at, 0, "lies before the record began: this schedule of the job is known since 2026-09-07T12:00:00Z", "")
	expect(t, "why mail 2026-09-07T23:00:00Z"+at, 0, "plans no tick at 2026-09-07T23:00:00Z", "")
	if out := expect(t, "history mail --outcome missed"+at, 0, "", ""); out != "" {
		t.Errorf("missed after the edit: %s", out)
	}
}

// Names that AWS or another job could take for something else are refused before anybody is asked,
// and long ones are not cut to the same.
func TestNamesThatNoJobCanHaveAreWrongUsage(t *testing.T) {
	long := strings.Repeat("a", 64)
	for _, name := range []string{"billing/daily", "billing.daily", "_sentinel", "-x-", long + "first", long + "other", "tick#1", "bücher"} {
		for _, line := range []string{"status -- ", "run -- ", "pause --reason x ok -- ", "logs -- "} {
			expect(t, line+name, 2, "", "job name ")
		}
	}
}

// Two schedulers of one account: neither is taken for the other, and none by chance.
func TestTwoSchedulersAreToldApart(t *testing.T) {
	w := newTown(t)
	w.Established(testworld.Minutely("cleanup"), "01:59")
	s, err := devapi.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	operator := func(name string, world *testworld.World) ops.Operator {
		return &ops.Direct{Name: name, Engine: world.Engine(), Around: townAround{world}}
	}
	if err := s.LeaveToken(); err != nil {
		t.Fatal(err)
	}
	s.Serve(map[string]ops.Operator{"dev": operator("dev", testworld.New(t, nil)), "prod": operator("prod", w.World)}, nil, http.NotFoundHandler())
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	at := " --dev " + s.URL()
	expect(t, "pause cleanup --reason x"+at, 1, "", "2 schedulers in the local cloud at "+s.URL()+": name one with --scheduler: dev, prod")
	expect(t, "pause cleanup --reason x --scheduler dev"+at, 1, "", `job "cleanup" is unknown to scheduler dev`)
	expect(t, "pause cleanup --reason x --scheduler prod"+at, 0, "cleanup is paused", "")
}

func TestCompletionKnowsJobsAndWordsOfFlags(t *testing.T) {
	w := newTown(t)
	w.lived()
	for line, want := range map[string]string{
		"status r":                   "report\tfree\n:4\n",
		"pause cleanup re":           "report\tfree\n:4\n",
		"pause --reason x cleanup c": ":4\n", // it is named already
		"why cleanup 2":              ":4\n",
		"history cleanup --kind m":   "scheduled\nmanual\nbackfill\ncatchup\n:4\n", // the shell chooses
		"run cleanup --overlap q":    "skip\nqueue-one\nreplace\nallow\n:4\n",
		"status --scheduler other r": ":4\n",
	} {
		args := strings.Fields(line)
		verb, last := args[0], args[len(args)-1]
		code, out, _ := command(t, slices.Concat([]string{"__complete", verb, "--dev", w.url}, args[1:len(args)-1], []string{last})...)
		if code != 0 || out != want {
			t.Errorf("%s: code %d, got %q, want %q", line, code, out, want)
		}
	}
}
