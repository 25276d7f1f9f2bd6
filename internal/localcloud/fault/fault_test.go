package fault

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func minutes(n int) Duration { return Duration(time.Duration(n) * time.Minute) }

func TestAFaultIsReadAsItIsWritten(t *testing.T) {
	for text, want := range map[string]Fault{
		"kill cleanup":                           {Kind: Kill, Job: "cleanup"},
		"kill for at 5m":                         {Kind: Kill, Job: "for", At: minutes(5)},
		"freeze cleanup for 10m":                 {Kind: Freeze, Job: "cleanup", For: minutes(10)},
		"late by 1m30s times 3":                  {Kind: Late, By: Duration(90 * time.Second), Times: 3},
		"throttle for 1h at 20m":                 {Kind: Throttle, For: minutes(60), At: minutes(20)},
		"drop cleanup times 2":                   {Kind: Drop, Job: "cleanup", Times: 2},
		"skew by -8s":                            {Kind: Skew, By: Duration(-8 * time.Second)},
		"skew dispatcher by 11s for 2m at 500ms": {Kind: Skew, Function: "dispatcher", By: Duration(11 * time.Second), For: minutes(2), At: Duration(500 * time.Millisecond)},
	} {
		got, err := Parse(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%q: got %+v, written %q, %v", text, got, got, err)
		}
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &got); err != nil || got != want {
			t.Errorf("%s: got %+v, %v", b, got, err)
		}
	}
}

func TestEveryExampleIsAFault(t *testing.T) {
	for _, d := range Catalog {
		f, err := Parse(d.Example)
		if err != nil || f.Kind != d.Kind {
			t.Errorf("%s: got %+v, %v", d.Example, f, err)
		}
	}
}

func TestAWrongFaultIsRefusedWithWhatIsAllowed(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "must be KIND [JOB or FUNCTION]",
		"break cleanup":               `kind "break": must be one of kill, abort, freeze, twice, late, crash, drop, throttle, skew`,
		"kill":                        `kill needs "a job"`,
		"kill cleanup by 5s":          `kill takes no "by D"`,
		"kill cleanup soon":           `"soon": must be KIND`,
		"kill cleanup at 5m at 6m":    `"at" stands in it twice`,
		"kill cleanup at":             `"at": must be KIND`,
		"kill cleanup at 0s":          `at "0s": must be positive`,
		"kill cleanup times 0":        `times "0": must be a whole number from 1`,
		"late cleanup":                `late needs "by D"`,
		"late cleanup by -5s":         `by "-5s": must be positive`,
		"twice for 5m times 3":        "either for D or times N",
		"throttle for 5":              `"5": must be a duration, such as 90s or 5m`,
		"throttle for -5m":            `for "-5m": must be positive`,
		"skew clock by 5s":            `function "clock": must be one of dispatcher, heartbeat, sentinel, settler`,
		"skew dispatcher by 5s times": `"times": must be KIND`,
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `fault "`+text+`"`) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
