package cost

import (
	"time"

	"github.com/cronfence/cronfence/pkg/schedule"
)

const year = 365 * 24 * time.Hour

// TicksPerMonth is the twelfth of the ticks that the schedule has in a year from an instant on.
func TicksPerMonth(s schedule.Schedule, from time.Time) float64 {
	return float64(s.Between(from, from.Add(year))) / 12
}

// maxLooked bounds the ticks that SkipShare looks at.
const maxLooked = 20_000

// SkipShare is the share of the ticks that find the run of an earlier one at work, of at most
// a year's from an instant on, if every run takes as long as that and policy Skip holds. An end
// settles before a tick of the same instant.
func SkipShare(s schedule.Schedule, from time.Time, runTime time.Duration) float64 {
	ticks, skipped := 0, 0
	var busyUntil time.Time
	for at, ok := s.Next(from); ok && ticks < maxLooked && at.Before(from.Add(year)); at, ok = s.Next(at) {
		if ticks++; at.Before(busyUntil) {
			skipped++
			continue
		}
		busyUntil = at.Add(runTime)
	}
	if ticks == 0 {
		return 0
	}
	return float64(skipped) / float64(ticks)
}
