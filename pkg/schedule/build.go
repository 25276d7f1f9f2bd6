package schedule

import "time"

// Every ticks at a steady rate of whole minutes.
func Every(d time.Duration, opts ...Option) Schedule { return Schedule{} }

// Hourly ticks at that minute of every hour.
func Hourly(minute int, opts ...Option) Schedule { return Schedule{} }

// Daily ticks at that local time of the zone.
func Daily(hour, minute int, zone string, opts ...Option) Schedule { return Schedule{} }

// Weekly ticks on that day of every week.
func Weekly(day time.Weekday, hour, minute int, zone string, opts ...Option) Schedule {
	return Schedule{}
}

// LastDay is the last day of a month, whichever that is.
const LastDay = -1

// Monthly ticks on that day of every month that has it; see [LastDay].
func Monthly(day, hour, minute int, zone string, opts ...Option) Schedule { return Schedule{} }

// CronFields are the fields of a cron expression in AWS's syntax. Minute and Hour are
// required; every other field left empty means every value.
type CronFields struct {
	Minute, Hour, Day, Month, Weekday, Year string
}

// Cron builds a cron expression from its fields.
func Cron(f CronFields, opts ...Option) Schedule { return Schedule{} }
