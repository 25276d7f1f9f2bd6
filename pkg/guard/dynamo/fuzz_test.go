package dynamo

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

const (
	wholeGuard = `{"version":1788746400000,"fence":1788746400000,"ready":true,"run":{"id":"cleanup-20260907T020000Z-1","tick":"2026-09-07T02:00:00Z","planned":1788746400000,"attempt":1,"at":1788746400000},
"leaseUntil":1788746520000,"startBy":1788746480000,"maxRunUntil":1788747080000,"waiting":{"tick":"2026-09-07T02:01:00Z","planned":1788746460000,"kind":"scheduled","since":1788746460000,"deadline":1788747360000,"why":"replace"},
"stop":{"byTick":"2026-09-07T02:01:00Z","at":1788746460000},"stopDeadline":1788746490000,"drainUntil":1788746400000,"lastTick":1788746460000,
"last":{"run":"r","tick":"t","endedAt":1},"paused":{"by":"me","why":"x","at":1},"backlog":{"kind":"backfill","next":1788742800000,"to":1788742920000,"left":3,"until":1791338400000},
"spec":{"version":"1.0","scheduler":"test","job":"cleanup","schedule":"cron(* * * * ? *)","machine":"arn:aws:states:us-east-1:000000000000:stateMachine:test_cleanup","overlap":"replace","beats":true,
"leaseSeconds":120,"renewalSeconds":30,"maxRunSeconds":600,"machineTimeoutSeconds":700,"startDeadlineSeconds":900},"specHash":"x","specSince":1}`
	wholeRow = `{"tick":"2026-09-07T02:00:00Z","at":1788746400000,"kind":"scheduled","outcome":"Running","fence":1788746400000,"run":"cleanup-20260907T020000Z-1","attempt":1,"token":"t",
"claimedAt":1788746400000,"startBy":1788746480000,"maxRunUntil":1788747080000,"interval":60,"holder":{"run":"r","tick":"t","heldFor":1,"until":2}}`
)

// itemOf is the item that a JSON object describes, as another version may have left it.
func itemOf(text string) item {
	var object map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&object) != nil {
		return nil
	}
	av, err := attributevalue.NewEncoder().Encode(numbers(object))
	if err != nil {
		return nil
	}
	m, _ := av.(*types.AttributeValueMemberM)
	if m == nil {
		return nil
	}
	return m.Value
}

// numbers makes numbers of the table out of those of JSON.
func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case json.Number:
		return attributevalue.Number(v)
	}
	return v
}

// minutely is a plan that ends nowhere.
type minutely struct{}

const minute = guard.Millis(60_000)

func (minutely) Next(after guard.Millis) guard.Millis  { return (after/minute + 1) * minute }
func (minutely) Prev(before guard.Millis) guard.Millis { return (before - 1) / minute * minute }
func (minutely) Count(after, to guard.Millis) int      { return int(to/minute - after/minute) }
func (m minutely) Anchored(guard.Millis) guard.Planned { return m }

// What is in the table was written by an older version, by a newer one, by hand: whatever it
// says, it is read or refused, and what is decided on it is a valid commit.
func FuzzStoredRecords(f *testing.F) {
	at := guard.Millis(1788746400000)
	f.Add(wholeGuard, wholeRow, int64(at+120_000))
	f.Add(wholeGuard, wholeRow, int64(at+10_000_000))
	f.Add(`{"version":1}`, `{"tick":"2026-09-07T02:00:00Z"}`, int64(at))
	f.Add(`{"version":1,"ready":true,"run":{"id":"r"},"stop":{},"mark":{}}`, `{"outcome":"Queued"}`, int64(at))
	f.Add(`{"version":1,"ready":true,"waiting":{},"backlog":{},"paused":{},"fromTheFuture":{"x":["y"]}}`, `{"outcome":"Exploded","fence":-1}`, int64(at))
	f.Add(`{"version":1,"ready":true,"spec":{"version":"1.7","overlap":"allow","fromTheFuture":true},"live":2}`, `{"shared":true,"outcome":"Running","holder":{}}`, int64(at))
	f.Add(`{"version":"one","spec":{"overlap":"forbid"}}`, `{"at":"yesterday"}`, int64(at))
	for i := 0; i < len(wholeGuard); i += 97 { // an attribute less, more or less
		f.Add(strings.ReplaceAll(wholeGuard, wholeGuard[i:min(i+9, len(wholeGuard))], "x"), wholeRow, int64(at))
	}
	f.Fuzz(func(t *testing.T, guardText, rowText string, at int64) {
		g, err := guardOf("cleanup", itemOf(guardText))
		if err != nil {
			g = nil
		}
		row, err := rowOf("cleanup", itemOf(rowText))
		if err != nil {
			row = nil
		}
		now := guard.Millis(at)
		if now < 0 || now > guard.Millis(1<<45) || tooFar(g) {
			return // no clock shows that
		}
		for name, dec := range decisions(g, row, now) {
			checkCommit(t, name, g, dec)
		}
	})
}

// tooFar tells whether a step of a minute to there would take for ever.
func tooFar(g *guard.Guard) bool {
	const far = guard.Millis(1 << 45)
	return g != nil && (g.Version < 0 || g.Version > int64(far) || g.LastTick < 0 || g.LastTick > far)
}

func decisions(g *guard.Guard, row *guard.Row, now guard.Millis) map[string]guard.Decision {
	all := map[string]guard.Decision{}
	spec := schema.Spec{
		Version: "1.0", Scheduler: "test", Job: "cleanup", Schedule: "cron(* * * * ? *)", LeaseSeconds: 120, MaxRunSeconds: 600,
		MachineTimeoutSeconds: 700, StartDeadlineSeconds: 900,
	}
	tick := minutely{}.Prev(now)
	d := guard.Delivery{Spec: spec, Kind: guard.Scheduled, At: tick, Tick: guard.TickID(guard.Scheduled, tick), Prev: tick - minute, Token: "t"}
	all["deliver"] = guard.Deliver(d, g, nil, now)
	all["redeliver"] = guard.Deliver(d, g, row, now)
	if row != nil {
		end := guard.End{Job: "cleanup", Tick: row.Tick, Run: row.Run, Fence: row.Fence, Attempt: row.Attempt, Outcome: guard.LeaseLost, MayLinger: true, EndedAt: now, Token: "t"}
		all["settle"] = guard.Settle(end, g, row, now)
		guard.JudgeBeat(guard.Beat{Run: row.Run, Fence: row.Fence, Lease: time.Minute}, g, row, now, now)
	}
	if g == nil {
		return all
	}
	all["pause"] = guard.PauseJob(*g, guard.Pause{}, "t")
	all["unblock"] = guard.Unblocked(*g, nil, "t", now)
	all["block"] = guard.BlockUntil(*g, nil, "t", now)
	all["advance"], _ = guard.Advance(*g, "t", now)
	all["resume"], _ = guard.ResumeJob(*g, "t", now)
	all["release"], _ = guard.ReleaseJob(*g, "", "me", "why", "t", now)
	all["expect"], _ = guard.Expect(spec, g, 0, "t", now)
	all["backlog"], _ = guard.AdvanceBacklog(*g, guard.BacklogTick{At: now}, "t", now)
	if g.Run != nil {
		for _, s := range []guard.Sight{{At: now}, {Known: true}, {Known: true, Ended: true, Outcome: guard.Aborted}} {
			all["take over"] = guard.TakeOver(*g, row, s, "x", guard.BacklogTick{}, "t", now)
		}
	}
	if guard.AccountDue(*g, minutely{}, now) {
		all["account"], _ = guard.Account(*g, nil, true, minutely{}, "t", now)
	}
	guard.Urgent(*g, now)
	return all
}

// checkCommit holds a commit to what every commit is: it can be written, raises the version of
// a guard it writes, and speaks for a row once.
func checkCommit(t *testing.T, name string, g *guard.Guard, dec guard.Decision) {
	t.Helper()
	if dec.Commit == nil {
		return
	}
	seen := map[string]bool{}
	for _, w := range dec.Commit.Writes {
		if seen[w.SK] {
			t.Errorf("%s: two writes of %s", name, w.SK)
		}
		seen[w.SK] = true
		if _, err := render(w); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if w.SK == schema.GuardSK && g != nil && dec.Guard.Version <= g.Version {
			t.Errorf("%s: version %d after %d", name, dec.Guard.Version, g.Version)
		}
		if w.SK == schema.GuardSK && g != nil && dec.Guard.Fence < g.Fence && g.Fence <= g.Version {
			t.Errorf("%s: fence %d after %d", name, dec.Guard.Fence, g.Fence)
		}
	}
}
