package alarmtest

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/example"
	"github.com/cronfence/cronfence/internal/sim"
	"github.com/cronfence/cronfence/internal/telemetry"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// The recorded histories are of the example app's job sync, every quarter of an hour, from
// Monday 2026-09-07 on: a line a tick, as `cronfence simulate --history` reads them. Its alarms
// and the scheduler's are those of the synthesized template.
var monday = time.Date(2026, 9, 7, 0, 0, 0, 0, time.UTC)

// exampleTemplate is the example app's, which a test in infra/app holds equal to what is synthesized.
func exampleTemplate(t *testing.T) *Template {
	t.Helper()
	text, err := example.Assembly.ReadFile("CronfenceExample.template.json")
	if err != nil {
		t.Fatal(err)
	}
	tpl, err := Load(text)
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

// alarmsOf are the alarms of a job and of its scheduler, and the name of the sentinel as they have it.
func alarmsOf(t *testing.T, tpl *Template, job string) (alarms []Alarm, sentinel string) {
	t.Helper()
	all, err := tpl.Alarms()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		parts := strings.Split(a.Name, "/")
		if len(parts) == 3 || parts[2] == job {
			alarms = append(alarms, a)
		}
		if a.Minus != nil {
			sentinel = a.Minus.Dimensions["FunctionName"]
		}
	}
	if len(alarms) != 8 || sentinel == "" {
		t.Fatalf("%d alarms, sentinel %q: want four of %s and four of its scheduler", len(alarms), sentinel, job)
	}
	return alarms, sentinel
}

// syncSpec is that of the example, with time for runs of 14 minutes and, to keep the tests short,
// few beats: the sweeps make points too.
func syncSpec(t *testing.T, tpl *Template) schema.Spec {
	t.Helper()
	spec, err := tpl.Spec("sync")
	if err != nil {
		t.Fatal(err)
	}
	spec.Beats, spec.LeaseSeconds, spec.RenewalSeconds = true, 300, 120
	spec.MaxRunSeconds, spec.MachineTimeoutSeconds = 1800, 1910
	spec.Fenced, spec.DrainSeconds = false, 45 // a fenced job is never locked out by a run that cannot be stopped
	return spec
}

func recorded(t *testing.T, name string) sim.RunTimes {
	t.Helper()
	f, err := os.Open("testdata/" + name + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	past, err := sim.ReadPast(f)
	if err != nil {
		t.Fatal(err)
	}
	return past.RunTimes
}

// replayRecorded replays a history and evaluates the alarms over it, once the first sweep has been.
func replayRecorded(t *testing.T, name string, days int, change func(*History)) (*Replayed, func(extra int) []Change) {
	t.Helper()
	t.Parallel()
	tpl := exampleTemplate(t)
	alarms, sentinel := alarmsOf(t, tpl, "sync")
	times := recorded(t, name)
	h := History{
		Spec: syncSpec(t, tpl), From: monday, To: monday.Add(time.Duration(days)*24*time.Hour + 7*time.Hour), Sentinel: sentinel,
		Run: func(tick time.Time) Run { return Run{Takes: times.Of(tick)} },
	}
	if change != nil {
		change(&h)
	}
	r := Replay(t, h)
	return r, func(extra int) []Change { return Evaluate(alarms, r.Points, h.From, h.To, extra) }
}

// alarming lists when alarms went off and ended, "2026-09-08 02:13 on cronfence/example/sync/ratio".
func alarming(changes []Change) []string {
	var list []string
	on := map[string]bool{}
	for _, c := range changes {
		if on[c.label()] == (c.To == InAlarm) {
			continue // from one kind of quiet to another
		}
		on[c.label()] = c.To == InAlarm
		what := map[bool]string{true: "on", false: "off"}[c.To == InAlarm]
		list = append(list, fmt.Sprintf("%s %s %s", c.At.Format("2006-01-02 15:04"), what, strings.TrimPrefix(c.label(), "cronfence/example/")))
	}
	return list
}

// on are the lines of alarms that go off.
func on(lines []string) string {
	var text strings.Builder
	for _, line := range lines {
		if strings.Contains(line, " on ") {
			text.WriteString(line + "\n")
		}
	}
	return text.String()
}

func TestSteadyJobRaisesNoAlarm(t *testing.T) {
	r, changes := replayRecorded(t, "steady", 7, nil)
	if got := alarming(changes(Extra)); len(got) != 0 {
		t.Errorf("alarms:\n%s\nwant none", strings.Join(got, "\n"))
	}
	if len(r.Messages) != 1 || !strings.Contains(r.Messages[0].Subject, "0 of 1 jobs need a look") {
		t.Errorf("messages %+v: want one, of a clean week", r.Messages)
	}
}

func TestCreepingJobIsNamedOnDay14AndTheRatioAlarmFollows(t *testing.T) {
	times := recorded(t, "creeping")
	r, changes := replayRecorded(t, "creeping", 20, nil)
	var firstOverlap, firstNear time.Time
	for _, one := range times {
		if firstOverlap.IsZero() && one.Took >= 15*time.Minute {
			firstOverlap = one.Tick
		}
		if firstNear.IsZero() && one.Took >= 12*time.Minute {
			firstNear = one.Tick.Add(12 * time.Minute)
		}
	}
	if len(r.Messages) != 2 || r.Messages[1].At.Format(time.DateOnly) != "2026-09-21" {
		t.Fatalf("messages %+v: want the second one on day 14", r.Messages)
	}
	named := regexp.MustCompile(`first overlaps itself on (\S+)\.`).FindStringSubmatch(r.Messages[1].Text)
	if named == nil || !strings.Contains(r.Messages[1].Subject, "1 of 1 jobs need a look") {
		t.Fatalf("message of day 14:\n%s\nwant sync named", r.Messages[1].Text)
	}
	day, err := time.Parse(time.DateOnly, named[1])
	if apart := firstOverlap.Sub(day).Hours() / 24; err != nil || apart < -2 || apart > 2 {
		t.Errorf("named %s: the first overlap is at %v", named[1], firstOverlap)
	}
	got := alarming(changes(Extra))
	for _, line := range got {
		if !strings.HasSuffix(line, "sync/ratio") {
			t.Errorf("%s: want no alarm but the ratio's", line)
		}
	}
	if len(got) == 0 {
		t.Fatal("want the ratio alarm")
	}
	first, err := time.Parse("2006-01-02 15:04", got[0][:16])
	if late := first.Sub(firstNear); err != nil || late <= 0 || late > 2*time.Minute {
		t.Errorf("alarms:\n%s\nwant the ratio's within two minutes of %v", strings.Join(got, "\n"), firstNear)
	}
	if r.Messages[1].At.After(firstNear) {
		t.Errorf("the ratio alarm at %v came before the message at %v", firstNear, r.Messages[1].At)
	}
	// Around the threshold it may come and go a few times; then long runs on end are one alarm.
	if last := got[len(got)-1]; len(got) > 9 || !strings.Contains(last, " on ") || last > "2026-09-26" {
		t.Errorf("alarms:\n%s\nwant a few, the last one to stay", strings.Join(got, "\n"))
	}
}

func TestLockedOutJobRaisesTheRightAlarmsAtTheRightTimes(t *testing.T) {
	locked, freed := monday.Add(26*time.Hour), monday.Add(50*time.Hour)
	r, changes := replayRecorded(t, "locked-out", 7, func(h *History) {
		takes := h.Run
		h.Run = func(tick time.Time) Run { return Run{Takes: takes(tick).Takes, Hangs: tick.Equal(locked)} }
		h.StopDenied = func(now time.Time) bool { return now.Before(freed) }
	})
	want := []string{
		// The run of 02:00 beats no more: five minutes and a margin later the sweep means to stop it.
		"2026-09-08 02:06 on stop-denied",
		"2026-09-08 02:13 on sync/ratio", // 0.8 of a quarter of an hour
		"2026-09-08 02:46 on sync/skips", // 02:15, 02:30, 02:45
		// Success was due by 02:00 and a maximum run time of 30 minutes and 20 of start deadline and
		// grace; five sweeps later.
		"2026-09-08 02:55 on sync/overdue",
		// Freed at 02:00 by that tick, which finds the work's drain: 45 s.
		"2026-09-09 02:01 on lease-lost/sync",
		"2026-09-09 02:01 on sync/failed",
		"2026-09-09 02:15 off stop-denied",
		"2026-09-09 02:16 off lease-lost/sync",
		"2026-09-09 02:16 off sync/skips",  // 02:15 is let in
		"2026-09-09 02:17 off sync/failed", // and succeeds
		"2026-09-09 02:18 off sync/overdue",
		"2026-09-09 02:46 off sync/ratio", // three intervals with points, from 02:15 on
	}
	for _, extra := range []int{0, 1, 3} { // how many more points CloudWatch takes is of no matter to what goes off
		if got := on(alarming(changes(extra))); got != on(want) {
			t.Errorf("%d extra points:\n%s\nwant\n%s", extra, got, on(want))
		}
	}
	if got := alarming(changes(Extra)); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("alarms:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(r.Messages) != 1 || !strings.Contains(r.Messages[0].Subject, "1 of 1 jobs need a look") ||
		!strings.Contains(r.Messages[0].Text, "no success for 24h30m from 2026-09-08 01:45Z") {
		t.Errorf("messages %+v: want the day named", r.Messages)
	}
	skips, runTimes := 0, 0
	for _, p := range r.Points {
		if p.Metric == telemetry.Skipped && p.Value == 1 {
			skips++
		}
		if p.Metric == telemetry.RunTime && p.Value > 3600 {
			runTimes++
		}
	}
	if skips != 96 || runTimes != 0 {
		t.Errorf("%d skips, %d run times of hours: want 96, and none of a run that was cut short", skips, runTimes)
	}
}

// No runs are no data, and no data is no comfort: the gauge comes from the sweeps.
func TestScheduleThatFiresNoMoreIsNoticed(t *testing.T) {
	stopped := monday.Add(2 * time.Hour)
	_, changes := replayRecorded(t, "steady", 0, func(h *History) {
		h.Lost = func(tick time.Time) bool { return !tick.Before(stopped) }
	})
	// Success was due by 02:00 and 30 minutes and 20.
	if got := strings.Join(alarming(changes(Extra)), "\n"); got != "2026-09-07 02:55 on sync/overdue" {
		t.Errorf("alarms:\n%s\nwant overdue, and no other", got)
	}
}

// What goes off for runs longer than the interval depends on what becomes of the tick that finds them.
func TestRunsLongerThanTheirIntervalAreToldOfUnderEveryPolicy(t *testing.T) {
	const takes, hours = 20 * time.Minute, 6
	for p, want := range map[policy.Overlap]struct {
		succeeded int
		on        []string
	}{
		policy.Skip:     {12, []string{"ratio"}}, // every second tick
		policy.QueueOne: {17, []string{"ratio"}}, // one behind another, without a pause
		policy.Replace:  {0, []string{"overdue", "ratio"}},
		policy.Allow:    {23, []string{"ratio"}},
	} {
		t.Run(p.String(), func(t *testing.T) {
			succeeded := 0
			r, changes := replayRecorded(t, "steady", 0, func(h *History) {
				h.To = monday.Add(hours * time.Hour)
				h.Spec.Overlap, h.Spec.Beats = p, p != policy.Allow
				h.Run = func(time.Time) Run { return Run{Takes: takes} }
			})
			for _, point := range r.Points {
				if point.Metric == telemetry.Succeeded {
					succeeded++
				}
			}
			on := map[string]bool{}
			for _, c := range changes(Extra) {
				if c.To == InAlarm {
					on[strings.TrimPrefix(c.Alarm, "cronfence/example/sync/")] = true
				}
			}
			if got := slices.Sorted(maps.Keys(on)); !slices.Equal(got, want.on) || succeeded != want.succeeded {
				t.Errorf("%d succeeded, %v went off: want %d, %v", succeeded, got, want.succeeded, want.on)
			}
		})
	}
}

// A failure is not forgotten because nothing runs any more.
func TestFailureIsNotEndedBySilence(t *testing.T) {
	failing := monday.Add(2 * time.Hour)
	_, changes := replayRecorded(t, "steady", 0, func(h *History) {
		h.Run = func(tick time.Time) Run { return Run{Takes: 2 * time.Minute, Fails: tick.Equal(failing)} }
		h.Lost = func(tick time.Time) bool { return tick.After(failing) }
	})
	want := "2026-09-07 02:03 on sync/failed\n2026-09-07 02:55 on sync/overdue"
	if got := strings.Join(alarming(changes(Extra)), "\n"); got != want {
		t.Errorf("alarms:\n%s\nwant\n%s", got, want)
	}
}
