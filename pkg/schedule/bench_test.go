package schedule_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/schedule"
)

// The aims are 20 microseconds a Next on average, and 1 millisecond for the count of a
// minutely job's ticks over thirty days.

var benchmarked = []struct {
	name, zone, expression string
	after                  time.Time
}{
	{"minutely", "UTC", "cron(* * * * ? *)", day(2026, 9, 6)},
	{"minutely in a zone", "America/New_York", "cron(* * * * ? *)", day(2026, 9, 6)},
	{"daily in a zone", "Europe/Berlin", "cron(0 2 * * ? *)", day(2026, 9, 6)},
	{"over the gap", "America/New_York", "cron(0 2 * * ? *)", day(2026, 3, 8)},
	{"last Friday", "America/New_York", "cron(15 10 ? * 6L *)", day(2026, 9, 26)},
	{"nearest weekday", "Asia/Tokyo", "cron(0 0 15W * ? *)", day(2026, 9, 16)},
	{"a year away", "Europe/Berlin", "cron(30 6 5 9 ? *)", day(2026, 9, 6)},
	{"eight years away", "UTC", "cron(0 0 29 2 ? *)", day(2096, 3, 1)},
	{"rate", "UTC", "rate(15 minutes)", day(2026, 9, 6)},
}

func day(year int, month time.Month, d int) time.Time {
	return time.Date(year, month, d, 0, 0, 0, 0, time.UTC)
}

func BenchmarkNext(b *testing.B) {
	for _, c := range benchmarked {
		b.Run(c.name, func(b *testing.B) {
			s := schedule.MustParse(c.expression, schedule.In(c.zone))
			b.ReportAllocs()
			for b.Loop() {
				s.Next(c.after)
			}
		})
	}
}

func BenchmarkPrev(b *testing.B) {
	for _, c := range benchmarked {
		b.Run(c.name, func(b *testing.B) {
			s := schedule.MustParse(c.expression, schedule.In(c.zone))
			b.ReportAllocs()
			for b.Loop() {
				s.Prev(c.after)
			}
		})
	}
}

func BenchmarkBetweenThirtyDays(b *testing.B) {
	for _, c := range benchmarked {
		b.Run(c.name, func(b *testing.B) {
			s := schedule.MustParse(c.expression, schedule.In(c.zone))
			b.ReportAllocs()
			for b.Loop() {
				s.Between(c.after, c.after.AddDate(0, 0, 30))
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := schedule.Parse("cron(0 2 ? * MON-FRI *)", schedule.In("Europe/Berlin")); err != nil {
			b.Fatal(err)
		}
	}
}

func TestSearchAllocatesNothingHoweverFarTheTick(t *testing.T) {
	for _, c := range benchmarked {
		s := schedule.MustParse(c.expression, schedule.In(c.zone))
		far := c.after.AddDate(20, 0, 0)
		for name, search := range map[string]func(){
			"next":    func() { s.Next(c.after) },
			"prev":    func() { s.Prev(c.after) },
			"between": func() { s.Between(c.after, far) },
		} {
			if got := testing.AllocsPerRun(20, search); got != 0 {
				t.Errorf("%s, %s: %v allocations, want none", c.name, name, got)
			}
		}
	}
}

// BenchmarkNextOnAverage is one Next over random expressions, zones and instants.
func BenchmarkNextOnAverage(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 0))
	var schedules []schedule.Schedule
	for len(schedules) < 1000 {
		zone := oracleZones[rng.IntN(len(oracleZones))]
		if s, err := schedule.Parse(randomCron(rng, 2026), schedule.In(zone)); err == nil {
			schedules = append(schedules, s)
		}
	}
	i := 0
	for b.Loop() {
		schedules[i%1000].Next(day(2026, 1, 1+i%365))
		i++
	}
}
