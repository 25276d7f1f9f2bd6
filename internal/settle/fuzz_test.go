package settle_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// ending is a world with one run, whose execution ended as a fuzzer likes.
func ending(t *testing.T, status machine.Status, name string) (w *testworld.World, run string, fence int64) {
	w = testworld.New(t, nil)
	w.At("02:00:00")
	r := w.Tick(testworld.Minutely("cleanup"), "02:00")
	w.At("02:00:30")
	w.Runs.End(r.Run, status, name)
	return w, r.Run, r.Fence
}

// checkEnd holds what the settler did with an event to the protocol: refused, the records are
// untouched; else either nothing changed or the run ended, once and for all, and left the guard.
func checkEnd(t *testing.T, w *testworld.World, event []byte) {
	t.Helper()
	guardBefore, rowBefore := w.Guard("cleanup"), w.Row("cleanup", "02:00")
	reply, err := w.Settle(string(event))
	g, row := w.Guard("cleanup"), w.Row("cleanup", "02:00")
	changed := cmp.Diff(guardBefore, g) + cmp.Diff(rowBefore, row)
	if err != nil || !reply.Changed {
		if changed != "" {
			t.Errorf("%v, %+v: yet the records changed:\n%s", err, reply, changed)
		}
		return
	}
	if !row.Outcome.Final() || row.Outcome != reply.Outcome || g.Run != nil || row.Fence != g.Fence || row.TTL == 0 {
		t.Errorf("%+v, row %+v, guard %+v: want the run's end on record and the guard released", reply, row, g)
	}
	if g.Version <= guardBefore.Version || row.RunTime < 0 || row.Ratio < 0 || row.EndedAt == 0 || len(row.Cause) > guard.MaxCause {
		t.Errorf("guard %+v, row %+v", g, row)
	}
}

func FuzzStatusEvent(f *testing.F) {
	w, run, _ := ending(&testing.T{}, machine.TimedOut, "")
	good := w.StatusEvent(run)
	add := func(change func(*schema.StatusEvent)) {
		ev := good
		change(&ev)
		b, err := json.Marshal(ev)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, "FAILED", "States.Runtime")
		f.Add(b, "SUCCEEDED", "")
	}
	add(func(*schema.StatusEvent) {})
	for _, status := range []string{"RUNNING", "SUCCEEDED", "FAILED", "ABORTED", "PENDING_REDRIVE", ""} {
		add(func(e *schema.StatusEvent) { e.Detail.Status = status })
	}
	add(func(e *schema.StatusEvent) { e.Detail.Input = "" })
	add(func(e *schema.StatusEvent) { e.Detail.Input = `{"job":"cleanup","run":"` + run + `","fence":-1}` })
	add(func(e *schema.StatusEvent) { e.Detail.StartDate, e.Detail.StopDate = 1<<62, -1<<62 })
	add(func(e *schema.StatusEvent) {
		e.Detail.ExecutionARN = "arn:aws:states:us-east-1:0:execution:prod_cleanup:x"
	})
	add(func(e *schema.StatusEvent) { e.DetailType = "Step Functions" })
	f.Add([]byte(`{"detail-type":"`+schema.StatusDetailType+`"}`), "ABORTED", "")
	f.Fuzz(func(t *testing.T, event []byte, status, name string) {
		w, _, _ := ending(t, machine.Status(status), name)
		checkEnd(t, w, event)
	})
}

func FuzzSettleEvent(f *testing.F) {
	_, run, fence := ending(&testing.T{}, machine.Running, "")
	add := func(change func(*schema.SettleEvent)) {
		ev := schema.SettleEvent{
			Job: "cleanup", Tick: "2026-09-07T02:00:00Z", Run: run, Fence: fence, Attempt: 1, Interval: 60, Status: schema.RunSucceeded,
			StartedAt: "2026-09-07T02:00:00Z", EndedAt: "2026-09-07T02:00:30.123Z",
		}
		change(&ev)
		b, err := json.Marshal(ev)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	add(func(*schema.SettleEvent) {})
	for _, name := range []string{"States.Timeout", schema.ErrorStop, schema.ErrorLeaseLost, schema.ErrorMaxRunTime, "Boom", ""} {
		add(func(e *schema.SettleEvent) {
			e.Status, e.End = schema.RunFailed, &schema.EndError{Error: name, Cause: "é"}
		})
	}
	add(func(e *schema.SettleEvent) { e.Status = schema.RunFailed })
	add(func(e *schema.SettleEvent) { e.Status = "" })
	add(func(e *schema.SettleEvent) { e.Fence++ })
	add(func(e *schema.SettleEvent) { e.Tick = "manual-2026-09-07T02:00:00.000Z" })
	add(func(e *schema.SettleEvent) { e.Tick = "" })
	add(func(e *schema.SettleEvent) { e.Attempt, e.Interval = -1, -1 })
	add(func(e *schema.SettleEvent) { e.StartedAt, e.EndedAt = "now", "0001-01-01T00:00:00Z" })
	add(func(e *schema.SettleEvent) { e.StartedAt, e.EndedAt = "0001-01-01T00:00:01Z", "9999-12-31T23:59:59Z" })
	f.Add([]byte(`{"detail-type":"x"}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, event []byte) {
		w, _, _ := ending(t, machine.Running, "")
		checkEnd(t, w, event)
	})
}
