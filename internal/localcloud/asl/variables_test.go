package asl

import (
	"context"
	"strings"
	"testing"
	"time"
)

func TestAssignSeesTheVariablesAsTheyWere(t *testing.T) {
	x := try(t, `{"StartAt":"A","States":{"A":{"Type":"Pass","Assign":{"x":1,"y":2},"Next":"B"},
		"B":{"Type":"Pass","Assign":{"x.$":"$y","y.$":"$x"},"Next":"C"},
		"C":{"Type":"Pass","Parameters":{"x.$":"$x","y.$":"$y"},"End":true}}}`, `{}`, nil)
	x.wantOutput(t, `{"x":2,"y":1}`)
}

func TestAVariableEndsWithItsBranch(t *testing.T) {
	x := try(t, `{"StartAt":"P","States":{"P":{"Type":"Parallel","Branches":[{"StartAt":"A","States":{"A":{"Type":"Pass","Assign":{"x":1},"End":true}}}],"Next":"B"},
		"B":{"Type":"Pass","Parameters":{"x.$":"$x"},"End":true}}}`, `{}`, nil)
	x.wantError(t, ErrNameRuntime)
}

func TestACatchAssignsAroundItsParallel(t *testing.T) {
	x := try(t, `{"StartAt":"P","States":{"P":{"Type":"Parallel","Branches":[{"StartAt":"A","States":{"A":{"Type":"Fail","Error":"E"}}}],
		"Catch":[{"ErrorEquals":["States.ALL"],"Assign":{"why.$":"$.Error"},"ResultPath":null,"Next":"B"}],"End":true},
		"B":{"Type":"Pass","Parameters":{"why.$":"$why"},"End":true}}}`, `{}`, nil)
	x.wantOutput(t, `{"why":"E"}`)
}

func TestAVariableHasOneScope(t *testing.T) {
	_, err := Parse([]byte(`{"StartAt":"P","States":{"P":{"Type":"Parallel","Assign":{"x":1},"Branches":[
		{"StartAt":"A","States":{"A":{"Type":"Pass","Assign":{"x.$":"$"},"End":true}}}],"End":true}}}`))
	if err == nil || !strings.Contains(err.Error(), `state "P": Assign: variable "x" is assigned around it too`) {
		t.Errorf("got %v", err)
	}
}

func TestAJSONataErrorIsCaught(t *testing.T) {
	x := try(t, `{"QueryLanguage":"JSONata","StartAt":"T","States":{"T":{`+task+`,"Arguments":{"n":"{% 1 + $states.input.text %}"},
		"Catch":[{"ErrorEquals":["States.QueryEvaluationError"],"Output":"{% $states.errorOutput.Error %}","Next":"E"}],"End":true},
		"E":{"Type":"Pass","End":true}}}`, `{"text":"a"}`, work{})
	x.wantOutput(t, `"States.QueryEvaluationError"`)
	if x.count("EvaluationFailed") != 1 {
		t.Error("the history has no EvaluationFailed")
	}
}

// A task that shows signs of life is bounded by its timeout alone.
func TestBeatsHoldAHeartbeatOff(t *testing.T) {
	definition := `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage.waitForTaskToken",
		"TimeoutSeconds":100,"HeartbeatSeconds":10,"Parameters":{"t.$":"$$.Task.Token"},"End":true}}}`
	for beats, took := range map[int]time.Duration{0: 10 * time.Second, 5: (5*8 + 10) * time.Second, 100: 100 * time.Second} {
		x := try(t, definition, `{}`, work{"T": func(ctx context.Context, task Task) (any, error) {
			if task.Token == "" || task.Token != task.Input.(map[string]any)["t"] {
				t.Errorf("the task has the token %q and the input %v", task.Token, task.Input)
			}
			for range beats {
				if (bubbleClock{}).Sleep(ctx, 8*time.Second) != nil {
					break
				}
				task.Beat()
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		x.wantError(t, ErrNameTimeout)
		x.wantTook(t, took)
	}
}

func TestTooMuchDataIsNotCaught(t *testing.T) {
	x := try(t, `{"StartAt":"T","States":{"T":{`+task+`,"Catch":[{"ErrorEquals":["States.ALL"],"Next":"C"}],"End":true},"C":{"Type":"Pass","End":true}}}`,
		`{}`, work{"T": func(context.Context, Task) (any, error) { return strings.Repeat("a", maxData), nil }})
	x.wantError(t, ErrNameDataLimit)
}
