package sentinel_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	emulators "github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard/dynamo"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func TestMain(m *testing.M) { os.Exit(emulators.Run(m)) }

// The weekly message is kept in the table that the jobs are in, beside no guard of its own.
func TestWeeklyMessageIsKeptInDynamoDB(t *testing.T) {
	c := emulators.Moto(t)
	spec := testworld.Spec("monthly", "cron(0 2 8 * ? *)")
	r := newRigOver(t, dynamo.New(dynamodb.NewFromConfig(c.Config), c.Table(t)), deploy(spec))
	box := &mailbox{}
	r.h.Notices = box
	r.Clock = testworld.Midnight.Add(26 * time.Hour)
	run := must(r.Deliver(spec, r.Clock.Format(schema.TickLayout)))
	r.Clock = r.Clock.Add(time.Minute)
	must(r.Succeed(run))
	r.Clock = testworld.Midnight.Add(7*24*time.Hour + settles)
	box.dies = true
	func() {
		defer func() { _ = recover() }()
		r.tick()
	}()
	box.dies = false
	for range 3 {
		r.tick()
	}
	r.Clock = r.Clock.Add(5 * time.Minute)
	for range 3 {
		r.tick()
	}
	if len(box.texts) != 1 || !strings.Contains(box.texts[0], "monthly: longest run 1m (") {
		t.Errorf("messages %q: want one", box.texts)
	}
	page, err := r.Store.Guards(t.Context(), "", 10)
	if err != nil || len(page.Guards) != 1 {
		t.Errorf("guards %+v, %v: want the job's alone", page.Guards, err)
	}
}

const settles = 6 * time.Hour
