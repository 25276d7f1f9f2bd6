package asl

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// pass evaluates one path or intrinsic function over an input.
func pass(t *testing.T, expression, input string) *trial {
	t.Helper()
	return try(t, `{"StartAt":"S","States":{"S":{"Type":"Pass","Parameters":{"v.$":`+fmt.Sprintf("%q", expression)+`},"OutputPath":"$.v","End":true}}}`, input, nil)
}

func TestFilters(t *testing.T) {
	input := `{"max":2,"jobs":[{"n":1,"s":"ok","at":{"zone":"UTC"}},{"n":2,"s":"late","x":null},{"n":"2","s":"OK"}]}`
	for filter, want := range map[string]string{
		`@.n == 1`:                          `[1]`,
		`@.n==2`:                            `[2,"2"]`,
		`@.n != 1`:                          `[2,"2"]`,
		`@.n > 1`:                           `[2]`,
		`@.n <= $.max`:                      `[1,2]`,
		`@.s == 'ok'`:                       `[1]`,
		`@.s == "late" || @.n == 1`:         `[1,2]`,
		`@.n >= 1 && @.s != 'late'`:         `[1]`,
		`(@.n == 1 || @.n == 2) && !(@.at)`: `[2,"2"]`,
		`@.at`:                              `[1]`,
		`@.at.zone == 'UTC'`:                `[1]`,
		`@['s'] == 'ok'`:                    `[1]`,
		`@.x == null`:                       `[2]`,
		`!@.x`:                              `[1,"2"]`,
		`@.s =~ /ok/i`:                      `[1,"2"]`,
		`@.s =~ /o/`:                        `[]`,
		`@.s in ['ok','late']`:              `[1,2]`,
		`@.n nin [1]`:                       `[2,"2"]`,
		`@.gone == 1`:                       `[]`,
	} {
		if x := pass(t, `$.jobs[?(`+filter+`)].n`, input); x.Err != nil || !sameJSON(x.Output, []byte(want)) {
			t.Errorf("%s: got %s, %v; want %s", filter, x.Output, x.Err, want)
		}
	}
	for _, filter := range []string{`@.n empty true`, `@.n size 2`, `@.n ==`, `@.s == 'a`, `@.s =~ ok`, `(@.n`, `$$.State`} {
		if _, err := parsePath(`$.jobs[?(` + filter + `)]`); err == nil || !strings.Contains(err.Error(), "filter") {
			t.Errorf("%s: got %v, want it refused", filter, err)
		}
	}
}

func TestPathsThatMakeSomethingNew(t *testing.T) {
	input := `{"a":[1,2,3],"o":{"x":1,"y":2,"z":3},"l":[{"p":7},{"p":8}]}`
	for path, want := range map[string]string{
		`$.a.length()`:   `3`,
		`$.o['x','y']`:   `{"x":1,"y":2}`,
		`$.a[-1:]`:       `[3]`,
		`$.a[0,2]`:       `[1,3]`,
		`$..x`:           `[1]`,
		`$..[?(@.x)].y`:  `[2]`,
		`$..[?(@.p)].p`:  `[7,8]`,
		`$$.State.Name`:  `"S"`,
		`$.o[*]`:         `[1,2,3]`,
		`$.missing[*].x`: `[]`,
	} {
		if x := pass(t, path, input); x.Err != nil || !sameJSON(x.Output, []byte(want)) {
			t.Errorf("%s: got %s, %v; want %s", path, x.Output, x.Err, want)
		}
	}
}

func TestIntrinsicFunctions(t *testing.T) {
	input := `{"a":[3,1,3],"o":{"k":[1]},"s":"x"}`
	for call, want := range map[string]string{
		`States.ArrayUnique($.a)`:                                    `[3,1]`,
		`States.Format('{}: \\{{}\\} it\\'s {}', 'a', 1, $.o)`:       `"a: {1} it's {k=[1]}"`,
		`States.Format('none')`:                                      `"none"`,
		`States.StringToJson('\\{"a":1\\}')`:                         `{"a":1}`,
		`States.Array(1, 'two', null, true, $.s, States.Array())`:    `[1,"two",null,true,"x",[]]`,
		`States.MathRandom(1, 3)`:                                    `2`,
		`States.ArrayRange(3, 1, -1)`:                                `[3,2,1]`,
		`States.ArrayGetItem($.o['k'], 0)`:                           `1`,
		`States.JsonToString($.o)`:                                   `"{\"k\":[1]}"`,
		`States.ArrayContains($.a, States.MathAdd(1, 2))`:            `true`,
		`States.ArrayLength(States.StringSplit(States.UUID(), '-'))`: `5`,
	} {
		if x := pass(t, strings.ReplaceAll(call, `\\`, `\`), input); x.Err != nil || !sameJSON(x.Output, []byte(want)) {
			t.Errorf("%s: got %s, %v; want %s", call, x.Output, x.Err, want)
		}
	}
	for _, call := range []string{
		`States.ArrayGetItem($.a, 3)`, `States.MathAdd('a', 1)`, `States.Hash('a', 'CRC')`, `States.ArrayRange(0, 2000, 1)`,
		`States.ArrayPartition($.a, 0)`, `States.JsonMerge($.o, $.o, true)`, `States.Format('{}')`, `States.Base64Decode('*')`,
	} {
		pass(t, call, input).wantError(t, ErrNameIntrinsic)
	}
	pass(t, `States.ArrayLength($.none)`, input).wantError(t, ErrNameRuntime)
	for _, call := range []string{`States.Sum($.a)`, `States.ArrayLength()`, `States.Array(1`, `States.Array('a)`, `States.UUID() x`, `States.Array({})`} {
		if _, err := compileExpr(call); err == nil || !strings.Contains(err.Error(), call) {
			t.Errorf("%s: got %v, want it refused", call, err)
		}
	}
}

func TestAMapRunsSoManyAtOnce(t *testing.T) {
	for _, tt := range []struct {
		field string
		took  time.Duration
	}{
		{`,"MaxConcurrency":2`, 3 * time.Second},
		{`,"MaxConcurrencyPath":"$.width"`, 2 * time.Second},
		{``, time.Second},
	} {
		x := try(t, `{"StartAt":"M","States":{"M":{"Type":"Map","ItemsPath":"$.list"`+tt.field+`,"ItemProcessor":{"StartAt":"T","States":{
			"T":{`+task+`,"Parameters":{"i.$":"$$.Map.Item.Index"},"End":true}}},"End":true}}}`, `{"list":[1,2,3,4,5],"width":3}`, work{"T": takes(time.Second)})
		x.wantTook(t, tt.took)
	}
}

func TestAFailedIterationEndsTheMap(t *testing.T) {
	var begun atomic.Int64
	x := try(t, `{"StartAt":"M","States":{"M":{"Type":"Map","MaxConcurrency":2,"ItemProcessor":{"StartAt":"T","States":{"T":{`+task+`,"End":true}}},
		"Catch":[{"ErrorEquals":["E"],"Next":"Caught"}],"End":true},"Caught":{"Type":"Pass","End":true}}}`, `[1,2,3,4]`, work{
		"T": func(ctx context.Context, task Task) (any, error) {
			begun.Add(1)
			if task.Input == number(1) {
				return failsAfter(time.Second, "E", "c")(ctx, task)
			}
			return takes(time.Hour)(ctx, task)
		},
	})
	x.wantOutput(t, `{"Error":"E","Cause":"c"}`)
	x.wantTook(t, time.Second)
	if n := begun.Load(); n != 2 {
		t.Errorf("%d iterations began, want 2", n)
	}
}
