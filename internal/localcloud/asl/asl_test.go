package asl

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWhatIsNotKnownIsRefusedByName(t *testing.T) {
	one := func(state string) string { return `{"StartAt":"S","States":{"S":` + state + `}}` }
	for _, tt := range []struct{ definition, want string }{
		{one(`{"Type":"Loop","End":true}`), `state "S": type "Loop"`},
		{one(`{"Type":"Map","End":true}`), `one of ItemProcessor and Iterator`},
		{one(`{"Type":"Pass","Output":"{% 1 %}","End":true}`), `field "Output"`},
		{one(`{"Type":"Pass","QueryLanguage":"XPath","End":true}`), `query language "XPath"`},
		{one(`{"Type":"Wait","Seconds":1,"ResultPath":"$.a","End":true}`), `field "ResultPath"`},
		{one(`{"Type":"Pass","Parameters":{"a.$":"States.Unknown(1)"},"End":true}`), `States.Unknown`},
		{one(`{"Type":"Pass","Parameters":{"a.$":"$.size()"},"End":true}`), `size()`},
		{one(`{"Type":"Pass","Next":"Nowhere"}`), `state "S": next state "Nowhere"`},
		{one(`{"Type":"Pass"}`), `state "S": must have either Next or End`},
		{one(`{"Type":"Pass","ResultPath":"$.a[*]","End":true}`), `"$.a[*]": must be a reference path`},
		{one(`{"Type":"Task","Resource":"r","Retry":[{"ErrorEquals":["States.ALL","E"]}],"End":true}`), `States.ALL must stand alone`},
		{one(`{"Type":"Task","Resource":"r","Retry":[{"ErrorEquals":["E"],"Often":1}],"End":true}`), `field "Often"`},
		{one(`{"Type":"Task","Resource":"r","TimeoutSeconds":0,"End":true}`), `TimeoutSeconds 0`},
		{one(`{"Type":"Choice","Choices":[{"Variable":"$.a","NumericIs":1,"Next":"S"}]}`), `operator "NumericIs"`},
		{one(`{"Type":"Wait","Seconds":1,"Timestamp":"2026-01-01T00:00:00Z","End":true}`), `2 of Seconds`},
		{`{"StartAt":"X","States":{}}`, `StartAt "X"`},
		{`{"StartAt":"S","States":{"S":{"Type":"Succeed"}},"Speed":1}`, `field "Speed"`},
	} {
		_, err := Parse([]byte(tt.definition))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s\n got %v\nwant %s", tt.definition, err, tt.want)
		}
	}
}

func TestRetryDelays(t *testing.T) {
	five, ten, none := int64(5), int64(10), int64(0)
	rate := 1.5
	half := func() float64 { return 0.5 }
	for _, tt := range []struct {
		name string
		r    retrier
		want string
	}{
		{"defaults", retrier{}, "1s 2s 4s"},
		{"never", retrier{MaxAttempts: &none}, ""},
		{"capped", retrier{IntervalSeconds: &five, MaxAttempts: &five, MaxDelaySeconds: &ten}, "5s 10s 10s 10s 10s"},
		{"slower", retrier{BackoffRate: &rate}, "1s 1.5s 2.25s"},
		{"full jitter", retrier{JitterStrategy: "FULL"}, "500ms 1s 2s"},
	} {
		var got []string
		for done := 0; ; done++ {
			d, ok := tt.r.delay(done, half)
			if !ok {
				break
			}
			got = append(got, d.String())
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %v, want %s", tt.name, got, tt.want)
		}
	}
}

func TestEachRetryEntryCountsForItself(t *testing.T) {
	definition := `{"StartAt":"T","States":{"T":{` + task + `,"Retry":[
		{"ErrorEquals":["A"],"MaxAttempts":1,"IntervalSeconds":1},{"ErrorEquals":["B"],"MaxAttempts":2,"IntervalSeconds":1}],"End":true}}}`
	var asked []string
	x := try(t, definition, `{}`, work{"T": func(context.Context, Task) (any, error) {
		name := "ABBA"[len(asked) : len(asked)+1]
		asked = append(asked, name)
		return nil, &Error{Name: name}
	}})
	x.wantError(t, "A")
	x.wantTook(t, 1*time.Second+1*time.Second+2*time.Second)
}

func TestTheContextObject(t *testing.T) {
	definition := `{"StartAt":"T","States":{"T":{` + task + `,"Parameters":{"at.$":"$$.Execution.StartTime","tries.$":"$$.State.RetryCount",
		"in.$":"$$.State.EnteredTime","id.$":"$$.Execution.Id","machine.$":"$$.StateMachine.Id"},"Retry":[{"ErrorEquals":["E"],"MaxAttempts":1}],"End":true}}}`
	x := try(t, definition, `{}`, work{"T": func(_ context.Context, task Task) (any, error) {
		if task.Input.(map[string]any)["tries"] == number(0) {
			return nil, &Error{Name: "E"}
		}
		return task.Input, nil
	}})
	x.wantOutput(t, `{"at":"2000-01-01T00:00:00Z","tries":1,"in":"2000-01-01T00:00:00Z","id":"arn:e","machine":"arn:m"}`)
}

func TestTimestampsHaveNoFractionAtWholeSeconds(t *testing.T) {
	second := time.Date(2026, 9, 7, 2, 0, 6, 0, time.UTC)
	for at, want := range map[time.Time]string{
		second:                                  "2026-09-07T02:00:06Z",
		second.Add(20 * time.Millisecond):       "2026-09-07T02:00:06.020Z",
		second.Add(999 * time.Microsecond):      "2026-09-07T02:00:06Z",
		second.In(time.FixedZone("CEST", 7200)): "2026-09-07T02:00:06Z",
	} {
		if got := Timestamp(at); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestResultsGoIntoTheWholeInput(t *testing.T) {
	for _, tt := range []struct{ fields, want string }{
		{`"InputPath":"$.in","ResultPath":"$.data.out"`, `{"in":{"n":1},"data":{"x":2,"out":{"n":1}}}`},
		{`"ResultPath":null`, `{"in":{"n":1},"data":{"x":2}}`},
		{`"InputPath":null`, `{}`},
		{`"OutputPath":"$.data.x"`, `2`},
		{`"OutputPath":null`, `{}`},
		{`"Result":[1,2],"ResultPath":"$.data.x"`, `{"in":{"n":1},"data":{"x":[1,2]}}`},
	} {
		x := try(t, `{"StartAt":"S","States":{"S":{"Type":"Pass",`+tt.fields+`,"End":true}}}`, `{"in":{"n":1},"data":{"x":2}}`, nil)
		x.wantOutput(t, tt.want)
	}
}

func TestLargeNumbersStayAsTheyAre(t *testing.T) {
	x := try(t, `{"StartAt":"S","States":{"S":{"Type":"Pass","Parameters":{"f.$":"$.f"},"End":true}}}`, `{"f":9007199254740993}`, nil)
	if got := string(x.Output); got != `{"f":9007199254740993}` {
		t.Errorf("got %s", got)
	}
}

func TestAHistoryOf25000EventsIsTheEnd(t *testing.T) {
	x := try(t, `{"StartAt":"A","States":{"A":{"Type":"Pass","Next":"B"},"B":{"Type":"Wait","Seconds":1,"Next":"A"}}}`, `{}`, nil)
	x.wantError(t, "States.Runtime")
	if n := len(x.events); n < MaxEvents || n > MaxEvents+2 {
		t.Errorf("the history has %d events", n)
	}
}
