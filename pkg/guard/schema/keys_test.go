package schema

import (
	"strings"
	"testing"
	"time"
)

func TestTickIsAnInstantInUTCToTheSecond(t *testing.T) {
	for in, want := range map[string]string{
		"2026-09-07T02:00:00Z": "2026-09-07T02:00:00Z", "2026-09-07T02:00:00.999Z": "2026-09-07T02:00:00Z",
		"2026-09-07T04:00:00+02:00": "2026-09-07T02:00:00Z", "1970-01-01T00:00:01Z": "1970-01-01T00:00:01Z",
	} {
		got, err := ParseTick(in)
		if err != nil || TickID(got) != want {
			t.Errorf("%q: %v, %v; want %s", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"": "must be an instant", "yesterday": "must be an instant", "0001-01-01T00:00:00Z": "must be an instant",
		"1970-01-01T00:00:00Z": "must be an instant", AttrScheduledTime: "did not fill in", "manual-2026-09-07T02:00:00Z": "must be an instant",
	} {
		if got, err := ParseTick(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want an error that says %q", in, got, err, want)
		}
	}
}

func TestExecutionARNIsMadeAndTakenApart(t *testing.T) {
	arn := ExecutionARN("arn:aws:states:eu-west-1:1:stateMachine:test_cleanup", "run")
	if arn != "arn:aws:states:eu-west-1:1:execution:test_cleanup:run" {
		t.Errorf("ARN %q", arn)
	}
	machine, run, err := ParseExecutionARN(arn)
	if err != nil || machine != "test_cleanup" || run != "run" {
		t.Errorf("%q, %q, %v", machine, run, err)
	}
	for _, bad := range []string{
		"", "a:b:states:d:e:execution:g", arn + ":x", "a:b:lambda:d:e:execution:g:h", "a:b:states:d:e:express:g:h",
		"a:b:states:d:e:execution::h", "a:b:states:d:e:execution:g:",
	} {
		if _, _, err := ParseExecutionARN(bad); err == nil {
			t.Errorf("%q was taken apart", bad)
		}
	}
}

func TestNames(t *testing.T) {
	for name, good := range map[string]bool{
		"cleanup": true, "a_b-C9": true, strings.Repeat("x", 48): true, strings.Repeat("x", 49): false, "-a": false, "_a": false, "": false, "a/b": false, "a\n": false,
	} {
		if err := CheckJob(name); (err == nil) != good {
			t.Errorf("job %q: %v", name, err)
		}
	}
	for name, good := range map[string]bool{
		"prod-1": true, "a_b": false, strings.Repeat("x", 31): true, strings.Repeat("x", 32): false, "": false,
	} {
		if err := CheckScheduler(name); (err == nil) != good {
			t.Errorf("scheduler %q: %v", name, err)
		}
	}
	for _, tick := range []string{"catchup-2026-09-07T02:00:00Z", "backfill-2026-09-07T02:00:00Z-9999"} {
		if long := RunID(strings.Repeat("x", 48), tick, 11); len(long) > 80 || strings.Contains(long, ":") {
			t.Errorf("run %q of %d characters", long, len(long))
		}
	}
	if TickSK("x") == GapSK("x") || TickSK("guard") == GuardSK {
		t.Error("sort keys meet")
	}
}

func TestMillisKeepTheMillisecondAndZeroIsNever(t *testing.T) {
	at := time.Date(2026, 9, 7, 2, 0, 0, 7_999_999, time.UTC)
	m := MillisOf(at)
	if m.Time() != at.Truncate(time.Millisecond) || m.String() != "2026-09-07T02:00:00.007Z" {
		t.Errorf("%v is %v", at, m)
	}
	if MillisOf(time.Time{}) != 0 || !Millis(0).Time().IsZero() || Millis(0).String() != "never" {
		t.Error("the zero instant must stay zero")
	}
	if m.Add(time.Second).Sub(m) != time.Second || m.Add(-time.Second) != m-1000 {
		t.Error("adding and subtracting differ")
	}
}
