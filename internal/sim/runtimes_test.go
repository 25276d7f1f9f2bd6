package sim

import (
	"strings"
	"testing"
	"time"
)

func TestRunTimesAreReadFromCSVAndFromJSONLines(t *testing.T) {
	for name, text := range map[string]string{
		"CSV":          "tick,seconds\n2026-09-07T00:02:00Z,90\n2026-09-07T00:01:00Z, 30.5\n",
		"CSV of Excel": "\ufefftick,seconds\r\n2026-09-07T00:02:00Z,90\r\n2026-09-07T00:01:00Z,30.5\r\n",
		"mark alone":   "\ufeff2026-09-07T00:02:00Z,90\n2026-09-07T00:01:00Z,30.5\n",
		"no heading":   "2026-09-07T00:02:00Z,90\n\n2026-09-07T00:01:00Z,30.5",
		"JSON":         `{"tick":"2026-09-07T00:01:00Z","seconds":30.5}` + "\n" + `{"tick":"2026-09-07T00:02:00Z","seconds":90}`,
		"history verb": `{"tick":"2026-09-07T00:01:00Z","runTimeSeconds":30.5}` + "\n" + `{"tick":"2026-09-07T00:01:30Z","outcome":"Skipped"}` + "\n" + `{"tick":"2026-09-07T00:02:00Z","runTimeSeconds":90}`,
		"history with other kinds": `{"tick":"2026-09-07T00:02:00Z","kind":"scheduled","runTimeSeconds":90}` + "\n" +
			`{"tick":"manual-2026-09-07T00:01:30.000Z","kind":"manual","runTimeSeconds":500}` + "\n" +
			`{"tick":"2026-09-07T00:01:00Z","kind":"scheduled","startedAt":"2026-09-07T00:01:00Z","endedAt":"2026-09-07T00:01:30.5Z"}`,
	} {
		r, err := ReadPast(strings.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		at := func(minute int) time.Duration {
			return r.Of(time.Date(2026, 9, 7, 0, minute, 0, 0, time.UTC))
		}
		if at(0) != 30500*time.Millisecond || at(1) != at(0) || at(2) != 90*time.Second || at(3) != at(2) || r.Longest() != at(2) {
			t.Errorf("%s: %v: want 30.5 s up to 00:01, 90 s from 00:02 on", name, r)
		}
	}
}

// What the history verb writes tells the ticks and the schedule too, those of skipped and missed
// ticks among them.
func TestThePastTellsItsTicksAndItsSchedule(t *testing.T) {
	p, err := ReadPast(strings.NewReader(`{"tick":"2026-09-07T00:09:00Z","kind":"scheduled","outcome":"Skipped","schedule":"rate(1 minute)","timezone":"UTC"}
{"tick":"2026-09-07T00:08:00Z","kind":"scheduled","runTimeSeconds":90,"schedule":"rate(2 minutes)"}
{"tick":"2026-09-07T00:03:00Z","kind":"scheduled","outcome":"Missed","from":"2026-09-07T00:01:00Z","count":3}`))
	minute := func(n int) time.Time { return time.Date(2026, 9, 7, 0, n, 0, 0, time.UTC) }
	if err != nil || p.First != minute(1) || p.Last != minute(9) || p.Schedule != "rate(1 minute)" || p.Timezone != "UTC" || len(p.RunTimes) != 1 {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestRunTimesThatSayNothingAreRefusedWithTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "no run time",
		"2026-09-07T00:01:00Z":           "line 1",
		"2026-09-07T00:01:00Z,-1":        "line 1",
		"2026-09-07T00:01:00Z,1\nnoon,2": "line 2",
		"2026-09-07T00:01:00Z,1\n2026-09-07T00:02:00Z,NaN":       "line 2: seconds NaN",
		"2026-09-07T00:01:00Z,Inf":                               "line 1: seconds +Inf",
		"2026-09-07T00:01:00Z,1e300":                             "line 1: seconds 1e+300",
		"2026-09-07T00:01:00Z,0":                                 "line 1: seconds 0: must be more than 0",
		`{"tick":"2026-09-07T00:01:00Z","runTimeSeconds":1e300}`: "line 1: seconds 1e+300",
		"2026-09-07T00:01:00Z,1\n2026-09-07T00:01:00Z,2":         "line 2: tick 2026-09-07T00:01:00Z: has a run time in line 1 already",
		`{"job":"a","tick":"2026-09-07T00:01:00Z","seconds":1}` + "\n" + `{"job":"b","tick":"2026-09-07T00:02:00Z"}`: "line 2: job b: the lines before are of a",
		`{"tick":"2026-09-07T00:01:00Z",`: "line 1",
		`{"tick":"2026-09-07T00:01:00Z"}`: "no run time",
	} {
		if _, err := ReadPast(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v: want %q", text, err, want)
		}
	}
}
