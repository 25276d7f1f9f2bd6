package parity

import (
	"fmt"
	"testing"
	"time"
)

const (
	invoke = `"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"f","Payload":{"in.$":"$"}}`

	jobThenFinished = `{"StartAt":"Run","States":{"Run":{` + invoke + `,"ResultPath":null,"Next":"Finished"},
		"Finished":{"Type":"Fail","Error":"Cronfence.Finished","Cause":"done"}}}`
	jobAlone = `{"StartAt":"Run","States":{"Run":{` + invoke + `,"ResultSelector":{"did.$":"$.Payload.did"},"End":true}}}`
	beats    = `{"StartAt":"Wait","States":{"Wait":{"Type":"Wait","Seconds":1,"Next":"Beat"},"Beat":{` + invoke + `,"ResultPath":null,"Next":"Wait"}}}`
	quick    = `{"StartAt":"Quick","States":{"Quick":{` + invoke + `,"ResultSelector":{"did.$":"$.Payload.did"},"End":true}}}`
	late     = `{"StartAt":"Late","States":{"Late":{"Type":"Wait","Seconds":2,"End":true}}}`

	catches = `,"Catch":[{"ErrorEquals":["Cronfence.Finished"],"ResultPath":"$.end","Next":"Settle"},
		{"ErrorEquals":["States.ALL"],"ResultPath":"$.end","Next":"Failed"}],"Next":"Settle"`
	ends = `,"Settle":{"Type":"Succeed"},"Failed":{"Type":"Fail","ErrorPath":"$.end.Error","CausePath":"$.end.Cause"}`
)

// twoBranches is the shape of a guarded job: what works beside what watches.
func twoBranches(first, second, parallel, rest string) string {
	return fmt.Sprintf(`{"StartAt":"P","States":{"P":{"Type":"Parallel","Branches":[%s,%s]%s}%s}}`, first, second, parallel, rest)
}

func TestTwoBranchesEndAsOnMoto(t *testing.T) {
	type answers = map[string]answer
	guarded := func(job string) string { return twoBranches(job, beats, catches, ends) }
	for _, c := range []struct {
		name       string
		definition string
		functions  answers
		stopped    bool
		want       end
	}{
		{
			"the job's end cancels the heartbeat", guarded(jobThenFinished),
			answers{"Run": {takes: 2500 * time.Millisecond}},
			false,
			end{Status: "SUCCEEDED", Output: map[string]any{"a": 1.0, "end": map[string]any{"Error": "Cronfence.Finished", "Cause": "done"}}},
		},
		{
			"a lost lease cancels the job", guarded(jobThenFinished),
			answers{"Run": {takes: forever}, "Beat": {err: "Cronfence.LeaseLost"}},
			false,
			end{Status: "FAILED", Error: "Cronfence.LeaseLost"},
		},
		{
			"the job's own error keeps its name", guarded(jobThenFinished),
			answers{"Run": {takes: 1500 * time.Millisecond, err: "OutOfStock"}},
			false,
			end{Status: "FAILED", Error: "OutOfStock"},
		},
		{
			"the job's timeout beside beats", guarded(`{"StartAt":"Run","States":{"Run":{` + invoke + `,"TimeoutSeconds":2,"End":true}}}`),
			answers{"Run": {takes: forever}},
			false,
			end{Status: "FAILED", Error: "States.Timeout"},
		},
		{
			"both results in order", twoBranches(jobAlone, quick, `,"ResultPath":"$.both","End":true`, ""),
			answers{"Run": {takes: time.Second}},
			false,
			end{Status: "SUCCEEDED", Output: map[string]any{"a": 1.0, "both": []any{map[string]any{"did": "Run"}, map[string]any{"did": "Quick"}}}},
		},
		{
			"an error caught in its branch leaves the other alone", twoBranches(`{"StartAt":"Run","States":{"Run":{`+invoke+`,
				"Catch":[{"ErrorEquals":["States.ALL"],"ResultPath":null,"Next":"Mend"}],"End":true},"Mend":{"Type":"Pass","Result":"mended","End":true}}}`,
				late, `,"End":true`, ""),
			answers{"Run": {err: "E"}},
			false,
			end{Status: "SUCCEEDED", Output: []any{"mended", map[string]any{"a": 1.0}}},
		},
		{
			"a retried Parallel runs both branches again",
			twoBranches(jobAlone, quick, `,"Retry":[{"ErrorEquals":["E"],"IntervalSeconds":1,"MaxAttempts":1}],"End":true`, ""),
			answers{"Run": {err: "E", times: 1}},
			false,
			end{Status: "SUCCEEDED", Output: []any{map[string]any{"did": "Run"}, map[string]any{"did": "Quick"}}},
		},
		{
			"a failure cancels the other branch's retry",
			twoBranches(`{"StartAt":"Run","States":{"Run":{`+invoke+`,"Retry":[{"ErrorEquals":["States.ALL"],"IntervalSeconds":20}],"End":true}}}`,
				`{"StartAt":"Wait","States":{"Wait":{"Type":"Wait","Seconds":1,"Next":"Stop"},"Stop":{"Type":"Fail","Error":"Stop","Cause":"asked to"}}}`, `,"End":true`, ""),
			answers{"Run": {err: "E"}},
			false,
			end{Status: "FAILED", Error: "Stop"},
		},
		{
			"the machine's timeout is not caught", `{"TimeoutSeconds":3,` + guarded(jobThenFinished)[1:],
			answers{"Run": {takes: forever}},
			false,
			end{Status: "TIMED_OUT"},
		},
		{
			"no matching choice is caught outside",
			twoBranches(`{"StartAt":"C","States":{"C":{"Type":"Choice","Choices":[{"Variable":"$.a","NumericEquals":2,"Next":"Yes"}],"Default":"No"},
				"Yes":{"Type":"Succeed"},"No":{"Type":"Fail","ErrorPath":"States.Format('No{}', $.a)","Cause":"none matched"}}}`, beats, catches, ends),
			answers{},
			false,
			end{Status: "FAILED", Error: "No1"},
		},
		{
			"a stop from outside", twoBranches(jobThenFinished, `{"StartAt":"Wait","States":{"Wait":{"Type":"Wait","Seconds":5,"End":true}}}`, catches, ends),
			answers{"Run": {takes: 3 * time.Second}},
			true,
			end{Status: "ABORTED"},
		},
		{
			"a watcher's Fail cancels the job",
			twoBranches(jobAlone, `{"StartAt":"Wait","States":{"Wait":{"Type":"Wait","Seconds":1,"Next":"Max"},"Max":{"Type":"Fail","Error":"Cronfence.MaxRunTime","Cause":"too long"}}}`, catches, ends),
			answers{"Run": {takes: 3 * time.Second}},
			false,
			end{Status: "FAILED", Error: "Cronfence.MaxRunTime"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // moto waits in real time
			endsAlike(t, trial{definition: c.definition, input: `{"a":1}`, functions: c.functions, stopped: c.stopped}, c.want)
		})
	}
}
