package dispatch_test

import (
	"os"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard/dynamo"
)

func TestMain(m *testing.M) { os.Exit(rig.Run(m)) }

// What the handlers cost, counted on the wire.
func TestRequestsThatReachDynamoDB(t *testing.T) {
	cloud := rig.Moto(t)
	w := testworld.New(t, dynamo.New(dynamodb.NewFromConfig(cloud.Config), cloud.Table(t)))
	spec := testworld.Minutely("cleanup")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w.Established(spec, "01:59")
	cloud.Requests.Reset()

	w.At("02:00:00")
	run := w.Tick(spec, "02:00")
	for _, step := range []struct {
		what string
		do   func()
		want map[string]int
	}{
		{"start", func() {}, map[string]int{"TransactWriteItems": 1}},
		{"duplicate", func() { w.Tick(spec, "02:00") }, map[string]int{"TransactWriteItems": 1}},
		{"beat", func() { w.At("02:00:30"); must(w.Beat(run)) }, map[string]int{"UpdateItem": 1}},
		{"skip", func() { w.At("02:01:00"); w.Tick(spec, "02:01") }, map[string]int{"TransactWriteItems": 2}},
		{"settle", func() { _, err := w.Succeed(run); must(err) }, map[string]int{"TransactWriteItems": 1}},
		{"duplicate of a finished tick", func() { w.Tick(spec, "02:00") }, map[string]int{"TransactWriteItems": 1}},
	} {
		step.do()
		if diff := cmp.Diff(step.want, cloud.Requests.Counts()); diff != "" {
			t.Errorf("%s: requests (-want +sent):\n%s", step.what, diff)
		}
		cloud.Requests.Reset()
	}
}
