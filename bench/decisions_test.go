package bench

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

var (
	now  = schema.MillisOf(time.Date(2026, 9, 7, 2, 0, 0, 0, time.UTC))
	spec = schema.Spec{
		Version: schema.SpecVersion, Scheduler: "shop", Job: "cleanup", Schedule: "cron(* * * * ? *)",
		Machine: "arn:aws:states:eu-west-1:123456789012:stateMachine:shop_cleanup", Overlap: policy.Skip, Beats: true,
		LeaseSeconds: 120, RenewalSeconds: 30, MaxRunSeconds: 3600, MachineTimeoutSeconds: 3720, StartDeadlineSeconds: 900, DrainSeconds: 900,
	}
)

func delivery(minute int) guard.Delivery {
	at := now.Add(time.Duration(minute) * time.Minute)
	return guard.Delivery{
		Spec: spec, Kind: guard.Scheduled, Tick: schema.TickID(at.Time()), At: at, Prev: at.Add(-time.Minute), Interval: 60, Token: "0123456789abcdef0123456789abcdef",
	}
}

// Decisions are what each of them takes, in decisions.json.
type Decisions struct {
	Setting
	Decisions []Decision `json:"decisions"`
}

// Decision is what one takes, on average.
type Decision struct {
	Name   string  `json:"name"`
	Micros float64 `json:"microseconds"`
	Bytes  float64 `json:"bytes"` // allocated
}

func (d *Decisions) table() string {
	rows := [][]string{}
	for _, one := range d.Decisions {
		rows = append(rows, []string{one.Name, fmt.Sprintf("%.1f µs", one.Micros), fmt.Sprintf("%.1f KB", one.Bytes/1024)})
	}
	return fmt.Sprintf("%s.\n\n", d.Setting) + tabulate([]string{"decision", "time", "memory"}, rows)
}

func (d *Decisions) broken() []string {
	const microseconds = 20
	var b bounds
	if len(d.Decisions) == 0 {
		b = append(b, "no decisions")
	}
	for _, one := range d.Decisions {
		b.atMost("µs of a "+one.Name, one.Micros, microseconds)
	}
	return b
}

// BenchmarkDecision is the time and the memory of each decision itself, without store or network.
func BenchmarkDecision(b *testing.B) {
	all := Decisions{Setting: begin()}
	claim := delivery(0)
	claimed, ok := guard.BlindClaim(claim, now)
	if !ok {
		b.Fatal("no claim")
	}
	held, row, late := claimed.Guard, claimed.Row, delivery(1)
	held.LastTick = claim.At
	end := guard.End{
		Job: spec.Job, Tick: row.Tick, Run: row.Run, Fence: row.Fence, Attempt: 1, Interval: 60,
		Outcome: guard.Succeeded, StartedAt: now, EndedAt: now.Add(45 * time.Second), Token: claim.Token,
	}
	beat := guard.Beat{Job: spec.Job, Tick: row.Tick, Run: row.Run, Fence: row.Fence, Lease: spec.Lease()}
	for _, c := range []struct {
		name   string
		decide func() bool // whether it came out as it should
	}{
		{"claim", func() bool { _, ok := guard.BlindClaim(claim, now); return ok }},
		{"skip", func() bool { return guard.Deliver(late, &held, nil, late.At).Row.Outcome == guard.Skipped }},
		{"duplicate", func() bool { return guard.Deliver(claim, &held, &row, row.StartBy).Verdict == guard.Duplicate }},
		{"beat", func() bool { return len(guard.BlindBeat(beat, now.Add(30*time.Second)).Writes) == 1 }},
		{"settle", func() bool { _, ok := guard.BlindSettle(end, end.EndedAt); return ok }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				if !c.decide() {
					b.Fatal("another decision")
				}
			}
			runtime.ReadMemStats(&after)
			n := float64(b.N)
			all.Decisions = append(all.Decisions, Decision{c.name, float64(b.Elapsed().Nanoseconds()) / 1000 / n, float64(after.TotalAlloc-before.TotalAlloc) / n})
		})
	}
	if *record {
		all.LoadAfter = load()
		write(b, "decisions", &all)
	}
}
