package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/pkg/schedule"
)

// maxNext bounds --count: beyond it nobody reads the ticks one by one.
const maxNext = 10_000

type nextOptions struct {
	schedule, timezone, after string
	count                     int
	json                      bool
}

func newNextCommand() *cobra.Command {
	var o nextOptions
	cmd := &cobra.Command{
		Use:   "next",
		Short: "The next ticks of a schedule",
		Long: `Shows the next ticks of an EventBridge expression, in UTC and in local time, and notes the
local days on which a change of clocks drops or moves one.

With --json it writes one document: ticks, a list of instants in UTC, and notes, a list of
sentences.`,
		Example: `  cronfence next --schedule 'cron(0 2 * * ? *)' --timezone America/New_York
  cronfence next --schedule 'rate(15 minutes)' --after 2026-03-08T06:00:00Z --count 4`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runNext(o, time.Now(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.schedule, "schedule", "", "EventBridge expression: cron(...), rate(...) or at(...)")
	flags.StringVar(&o.timezone, "timezone", "UTC", "IANA zone, such as Europe/Berlin")
	flags.StringVar(&o.after, "after", "", "show ticks later than this instant, RFC 3339 (default: now)")
	flags.IntVar(&o.count, "count", 10, fmt.Sprintf("how many ticks to show, 1-%d", maxNext))
	flags.BoolVar(&o.json, "json", false, "write one JSON document")
	allowed(cmd, "count", fmt.Sprintf("must be 1-%d", maxNext))
	return cmd
}

func runNext(o nextOptions, now time.Time, out io.Writer) error {
	s, after, err := o.read(now)
	if err != nil {
		return err
	}
	p := preview(s, after, o.count)
	if o.json {
		return writeJSON(out, p)
	}
	return p.write(out, s.Timezone())
}

// read turns the flags into a schedule and the instant to start from.
func (o nextOptions) read(now time.Time) (schedule.Schedule, time.Time, error) {
	if o.schedule == "" {
		return schedule.Schedule{}, now, usagef("--schedule is not set: must be an EventBridge expression, such as 'cron(0 2 * * ? *)' or 'rate(15 minutes)'")
	}
	if o.count < 1 || o.count > maxNext {
		return schedule.Schedule{}, now, usagef("--count %d: must be 1-%d", o.count, maxNext)
	}
	after := now
	if o.after != "" {
		var err error
		if after, err = time.Parse(time.RFC3339, o.after); err != nil {
			return schedule.Schedule{}, now, usagef("--after %q: must be an instant in RFC 3339, such as 2026-03-08T06:00:00Z", o.after)
		}
	}
	s, err := schedule.Parse(o.schedule, schedule.In(o.timezone))
	if err != nil {
		return schedule.Schedule{}, now, usagef("%w", err)
	}
	return s, after, nil
}
