package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/schedule"
)

func TestBuildersWriteAWSsExpressions(t *testing.T) {
	for _, c := range []struct {
		got        schedule.Schedule
		want, zone string
	}{
		{schedule.Every(time.Minute), "rate(1 minute)", "UTC"},
		{schedule.Every(90 * time.Minute), "rate(90 minutes)", "UTC"},
		{schedule.Every(time.Hour), "rate(1 hour)", "UTC"},
		{schedule.Every(36 * time.Hour), "rate(36 hours)", "UTC"},
		{schedule.Every(48 * time.Hour), "rate(2 days)", "UTC"},
		{schedule.Hourly(0), "cron(0 * * * ? *)", "UTC"},
		{schedule.Hourly(30, schedule.In("Asia/Kathmandu")), "cron(30 * * * ? *)", "Asia/Kathmandu"},
		{schedule.Daily(2, 0, "Europe/Berlin"), "cron(0 2 * * ? *)", "Europe/Berlin"},
		{schedule.Daily(0, 0, "UTC"), "cron(0 0 * * ? *)", "UTC"},
		{schedule.Weekly(time.Sunday, 23, 59, "UTC"), "cron(59 23 ? * SUN *)", "UTC"},
		{schedule.Monthly(1, 0, 0, "UTC"), "cron(0 0 1 * ? *)", "UTC"},
		{schedule.Monthly(schedule.LastDay, 0, 0, "UTC"), "cron(0 0 L * ? *)", "UTC"},
		{schedule.Cron(schedule.CronFields{Minute: "0", Hour: "2"}), "cron(0 2 * * ? *)", "UTC"},
		{schedule.Cron(schedule.CronFields{Minute: "*", Hour: "*", Weekday: "mon"}), "cron(* * ? * MON *)", "UTC"},
		{schedule.Cron(schedule.CronFields{Minute: "0", Hour: "2", Day: "15W", Month: "JAN", Year: "2027"}), "cron(0 2 15W JAN ? 2027)", "UTC"},
	} {
		if c.got.Err() != nil || c.got.Expression() != c.want || c.got.Timezone() != c.zone {
			t.Errorf("got %q in %q and %v, want %q in %q", c.got.Expression(), c.got.Timezone(), c.got.Err(), c.want, c.zone)
		}
	}
}

func TestWrongArgumentsMakeAScheduleThatNeverActs(t *testing.T) {
	for _, c := range []struct {
		got  schedule.Schedule
		want string
	}{
		{schedule.Cron(schedule.CronFields{}), "minute is not set"},
		{schedule.Cron(schedule.CronFields{Hour: "2"}), "minute is not set"},
		{schedule.Cron(schedule.CronFields{Minute: "0", Day: "1"}), "hour is not set"},
		{schedule.Cron(schedule.CronFields{Minute: " ", Hour: "* 2"}), `field 1 " ": must be one field`},
		{schedule.Cron(schedule.CronFields{Minute: "0", Hour: "2", Day: "*", Weekday: "MON"}), "exactly one must be ?"},
		{schedule.Every(0), "must be whole minutes and at least one"},
		{schedule.Every(90 * time.Second), "must be whole minutes"},
		{schedule.Every(-time.Hour), "must be whole minutes"},
		{schedule.Hourly(60), `minute "60"`},
		{schedule.Daily(24, 0, "UTC"), `hour "24"`},
		{schedule.Daily(-1, 0, "UTC"), "hour"},
		{schedule.Daily(2, 0, ""), `timezone ""`},
		{schedule.Daily(2, 0, "Local"), `timezone "Local"`},
		{schedule.Weekly(7, 2, 0, "UTC"), "weekday 7"},
		{schedule.Monthly(0, 2, 0, "UTC"), `day-of-month "0"`},
		{schedule.Monthly(32, 2, 0, "UTC"), `day-of-month "32"`},
	} {
		if c.got.Err() == nil || !strings.Contains(c.got.Err().Error(), c.want) {
			t.Errorf("got %v, want an error with %q", c.got.Err(), c.want)
		}
		if c.got.IsZero() || c.got.Expression() != "" {
			t.Errorf("%v: acts as none or as a valid one", c.got.Err())
		}
		isDead(t, c.got)
	}
}
