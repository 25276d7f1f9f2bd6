package cronfence_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/infra/cronfence"
	"github.com/cronfence/cronfence/pkg/schedule"
)

func TestWrongAlarmProps(t *testing.T) {
	stack := newStack(t)
	s := newScheduler(stack)
	shared := cronfence.NewScheduler(stack, "Shared", &cronfence.SchedulerProps{Name: "all", Build: cronfence.BuildPlaceholder, SharedAlarms: true})
	target := cronfence.LambdaTarget(function(stack, "Work", time.Minute))
	type props = cronfence.JobProps
	for name, c := range map[string]struct {
		change       func(*props)
		got, allowed string
	}{
		"overdue below zero":   {func(p *props) { p.Alarms.OverdueBy = -time.Hour }, "-1h0m0s", "whole seconds, 0 or more"},
		"overdue by a part":    {func(p *props) { p.Alarms.OverdueBy = time.Millisecond }, "1ms", "whole seconds"},
		"ratio below zero":     {func(p *props) { p.Alarms.Ratio = -0.1 }, "-0.1", "or 0 for 0.8"},
		"ratio too high":       {func(p *props) { p.Alarms.Ratio = 1001 }, "1001", "at most 1000"},
		"ratio no number":      {func(p *props) { p.Alarms.Ratio = math.NaN() }, "ratio NaN", "at most 1000"},
		"failures below zero":  {func(p *props) { p.Alarms.Failures = -1 }, "failures -1", "1 to 60 in a row, or 0 for 1"},
		"skips too many":       {func(p *props) { p.Alarms.Skips = 61 }, "skips 61", "1 to 60 in a row, or 0 for 3"},
		"owner too long":       {func(p *props) { p.Owner = strings.Repeat("o", 129) }, "owner of 129 bytes", "at most 128"},
		"owner of two lines":   {func(p *props) { p.Owner = "a\nb" }, `"a\nb"`, "one line"},
		"runbook too long":     {func(p *props) { p.Runbook = "https://" + strings.Repeat("r", 250) }, "258 bytes", "at most 256"},
		"alarms where shared":  {func(p *props) { p.Scheduler, p.Alarms.Ratio = shared, 0.5 }, "shared alarms", "must be left out"},
		"a topic where shared": {func(p *props) { p.Scheduler, p.PageTopic = shared, s.PageTopic() }, "shared alarms", "must be left out"},
	} {
		t.Run(name, func(t *testing.T) {
			p := props{Scheduler: s, Schedule: schedule.Every(time.Hour), Target: target}
			c.change(&p)
			id := "Bad-" + strings.ReplaceAll(name, " ", "-")
			err := propsError(t, func() { cronfence.NewJob(stack, id, &p) })
			for _, want := range []string{"Main/" + id, c.got, c.allowed} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\ndoes not say %q", err, want)
				}
			}
		})
	}
	for name, c := range map[string]struct {
		props        cronfence.SchedulerProps
		got, allowed string
	}{
		"retention-of-hours":   {cronfence.SchedulerProps{Retention: 36 * time.Hour}, "36h0m0s", "whole days"},
		"retention-below-zero": {cronfence.SchedulerProps{Retention: -24 * time.Hour}, "-24h0m0s", "or 0 for 2160h0m0s"},
		"retention-of-decades": {cronfence.SchedulerProps{Retention: 4000 * 24 * time.Hour}, "96000h0m0s", "24h0m0s to 87600h0m0s"},
		"log-level":            {cronfence.SchedulerProps{LogLevel: "debug"}, `"debug"`, `"INFO" or "ERROR"`},
	} {
		t.Run(name, func(t *testing.T) {
			c.props.Name = "shop"
			err := propsError(t, func() { cronfence.NewScheduler(stack, name, &c.props) })
			for _, want := range []string{"Main/" + name, c.got, c.allowed} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\ndoes not say %q", err, want)
				}
			}
		})
	}
}

func TestWrongAddedAlarms(t *testing.T) {
	stack := newStack(t)
	j := newScheduler(stack).AddJob("bills", &cronfence.JobProps{Schedule: schedule.Every(time.Hour), Target: cronfence.LambdaTarget(function(stack, "Work", time.Minute))})
	for name, c := range map[string]struct {
		add          func(p *cronfence.AlarmProps)
		threshold    float64
		got, allowed string
	}{
		"id of the job's own":      {func(p *cronfence.AlarmProps) { j.AddSkipAlarm("overdue", p) }, 0, `alarm "overdue"`, "none of"},
		"id that is a path":        {func(p *cronfence.AlarmProps) { j.AddSkipAlarm("a/b", p) }, 0, `alarm "a/b"`, "must match"},
		"overdue by no number":     {func(p *cronfence.AlarmProps) { j.AddOverdueAlarm("late", p) }, math.NaN(), "threshold NaN", "whole seconds"},
		"overdue below zero":       {func(p *cronfence.AlarmProps) { j.AddOverdueAlarm("late", p) }, -1, "threshold -1", "0 to 3.1536e+07"},
		"ratio without an end":     {func(p *cronfence.AlarmProps) { j.AddRatioAlarm("slow", p) }, math.Inf(1), "threshold +Inf", "at most 1000"},
		"half a failure":           {func(p *cronfence.AlarmProps) { j.AddFailedAlarm("broken", p) }, 1.5, "threshold 1.5", "1 to 60 in a row"},
		"more skips than are seen": {func(p *cronfence.AlarmProps) { j.AddSkipAlarm("held", p) }, 61, "threshold 61", "1 to 60 in a row"},
	} {
		t.Run(name, func(t *testing.T) {
			err := propsError(t, func() { c.add(&cronfence.AlarmProps{Threshold: c.threshold}) })
			for _, want := range []string{"Main/Scheduler/Jobs/bills", c.got, c.allowed} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\ndoes not say %q", err, want)
				}
			}
		})
	}
}

func TestDisabledJobHasNoOverdueAlarm(t *testing.T) {
	stack := newStack(t)
	j := newScheduler(stack).AddJob("off", &cronfence.JobProps{
		Schedule: schedule.Every(time.Hour), Disabled: true, Target: cronfence.LambdaTarget(function(stack, "Work", time.Minute)),
	})
	if j.OverdueAlarm() != nil || j.FailedAlarm() == nil {
		t.Error("a disabled job can be run by hand and fail, but no success of it is expected")
	}
}
