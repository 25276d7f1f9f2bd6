package schedule_test

import (
	"fmt"
	"time"

	"github.com/cronfence/cronfence/pkg/schedule"
)

func ExampleParse() {
	s, err := schedule.Parse("cron(0 2 ? * MON-FRI *)", schedule.In("Europe/Berlin"))
	if err != nil {
		fmt.Println(err)
		return
	}
	tick, _ := s.Next(time.Date(2026, 9, 4, 12, 0, 0, 0, time.UTC))
	fmt.Println(tick.Format(time.RFC3339))
	// Output: 2026-09-07T00:00:00Z
}

func ExampleParse_unixLine() {
	_, err := schedule.Parse("0 9 * * 1-5")
	fmt.Println(err)
	// Output: schedule "0 9 * * 1-5": must be cron(...), rate(...) or at(...): a Unix line has no year and other weekday numbers (AWS counts 1 = SUN), AWS says cron(0 9 ? * MON-FRI *)
}

func ExampleSchedule_Interval() {
	s := schedule.Daily(12, 0, "America/New_York")
	before, _ := s.Next(time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC))
	fmt.Println(before.Format(time.RFC3339), s.Interval(before)) // the night the clocks go forward
	// Output: 2026-03-07T17:00:00Z 23h0m0s
}

func ExampleSchedule_Between() {
	s := schedule.Every(time.Minute)
	down := time.Date(2026, 9, 6, 2, 0, 0, 0, time.UTC)
	fmt.Println(s.Between(down, down.Add(2*time.Hour)))
	// Output: 120
}

func ExampleCron() {
	s := schedule.Cron(schedule.CronFields{Hour: "2"})
	fmt.Println(s.Err())
	// Output: schedule cron: minute is not set: must be set, write "*" for every minute
}
