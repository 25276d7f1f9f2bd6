package sim

import (
	"strings"
	"testing"
	"time"
)

func TestRunTimesAreReadFromCSVAndFromJSONLines(t *testing.T) {
	for name, text := range map[string]string{
		"CSV":          "tick,seconds\n2026-09-07T00:02:00Z,90\n2026-09-07T00:01:00Z, 30.5\n",
		"no heading":   "2026-09-07T00:02:00Z,90\n\n2026-09-07T00:01:00Z,30.5",
		"JSON":         `{"tick":"2026-09-07T00:01:00Z","seconds":30.5}` + "\n" + `{"tick":"2026-09-07T00:02:00Z","seconds":90}`,
		"history verb": `{"tick":"2026-09-07T00:01:00Z","runTimeSeconds":30.5}` + "\n" + `{"tick":"2026-09-07T00:01:30Z","outcome":"Skipped"}` + "\n" + `{"tick":"2026-09-07T00:02:00Z","runTimeSeconds":90}`,
	} {
		r, err := ReadRunTimes(strings.NewReader(text))
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

func TestRunTimesThatSayNothingAreRefusedWithTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "no run time",
		"2026-09-07T00:01:00Z":            "line 1",
		"2026-09-07T00:01:00Z,-1":         "line 1",
		"2026-09-07T00:01:00Z,1\nnoon,2":  "line 2",
		`{"tick":"2026-09-07T00:01:00Z",`: "line 1",
		`{"tick":"2026-09-07T00:01:00Z"}`: "no run time",
	} {
		if _, err := ReadRunTimes(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v: want %q", text, err, want)
		}
	}
}
