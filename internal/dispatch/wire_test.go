package dispatch_test

import (
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/internal/cost"
	"github.com/cronfence/cronfence/internal/dispatch"
	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard/dynamo"
	"github.com/cronfence/cronfence/pkg/policy"
)

func TestMain(m *testing.M) { os.Exit(rig.Run(m)) }

// What the handlers cost, counted on the wire.
func TestRequestsThatReachDynamoDB(t *testing.T) {
	cloud := rig.Moto(t)
	charged := &rig.Charged{Client: cloud.Requests}
	w := testworld.New(t, dynamo.New(dynamodb.NewFromConfig(cloud.Config, func(o *dynamodb.Options) { o.HTTPClient = charged }), cloud.Table(t)))
	spec, beside := testworld.Minutely("cleanup"), testworld.Minutely("beside")
	beside.Overlap, beside.Beats = policy.Allow, false
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w.Established(spec, "01:59")
	w.Established(beside, "02:00")
	cloud.Requests.Reset()
	_, _ = charged.Take() // what was made ready does not count

	w.At("02:00:00")
	run := w.Tick(spec, "02:00")
	var shared dispatch.Reply
	units := func(j cost.Job) cost.Line { return line(t, cost.Of(j), "DynamoDB write units") }
	short, long := cost.Job{RunTime: time.Second, MaxRunTime: time.Second}, cost.Job{RunTime: 30 * time.Second, MaxRunTime: time.Hour}
	allow := cost.Job{RunTime: time.Second, MaxRunTime: time.Hour, Overlap: policy.Allow}
	for _, step := range []struct {
		what string
		do   func()
		want map[string]int
		// write units, as the estimates of package cost and docs/performance.md have them: the start
		// and the settling are half of a run each
		units float64
	}{
		{"start", func() {}, map[string]int{"TransactWriteItems": 1}, units(short).PerRun / 2},
		{"duplicate", func() { w.Tick(spec, "02:00") }, map[string]int{"TransactWriteItems": 1}, 4},
		{"beat", func() { w.At("02:00:30"); must(w.Beat(run)) }, map[string]int{"UpdateItem": 1}, units(long).PerRun - units(short).PerRun},
		{"skip", func() { w.At("02:01:00"); w.Tick(spec, "02:01") }, map[string]int{"TransactWriteItems": 2}, units(short).PerSkip},
		{"settle", func() { _, err := w.Succeed(run); must(err) }, map[string]int{"TransactWriteItems": 1}, units(short).PerRun / 2},
		{"duplicate of a finished tick", func() { w.Tick(spec, "02:00") }, map[string]int{"TransactWriteItems": 1}, 4},
		// A run that holds no guard is settled at the second try: the first is of one that does.
		{"start under policy Allow", func() { shared = w.Tick(beside, "02:01") }, map[string]int{"TransactWriteItems": 1}, units(allow).PerRun / 3},
		{"settle under policy Allow", func() { _, err := w.Succeed(shared); must(err) }, map[string]int{"TransactWriteItems": 2, "GetItem": 1}, units(allow).PerRun * 2 / 3},
	} {
		step.do()
		if diff := cmp.Diff(step.want, cloud.Requests.Counts()); diff != "" {
			t.Errorf("%s: requests (-want +sent):\n%s", step.what, diff)
		}
		want := rig.Units{Write: step.units}
		if step.want["GetItem"] > 0 {
			want.Read = line(t, cost.Of(allow), "DynamoDB read units").PerRun
		}
		if got, err := charged.Take(); err != nil || got != want {
			t.Errorf("%s: %+v, %v: want %+v", step.what, got, err, want)
		}
		cloud.Requests.Reset()
	}
}

// line is what an estimate has of an item.
func line(t *testing.T, e cost.Estimate, item string) cost.Line {
	t.Helper()
	for _, l := range e.Lines {
		if l.Item == item {
			return l
		}
	}
	t.Fatalf("the estimate has no line of %s", item)
	return cost.Line{}
}
