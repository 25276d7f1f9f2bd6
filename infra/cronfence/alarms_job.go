package cronfence

import "github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"

// observe makes what tells people of the job: its alarms, unless the scheduler's are shared,
// and its place on the dashboard.
func (j *Job) observe(props *JobProps) {
	s := props.Scheduler
	j.scheduler = s
	j.apart = intervals(props.Schedule.Next)
	j.interval = median(j.apart)
	j.owner, j.runbook = props.Owner, props.Runbook
	j.page, j.notice = s.page, s.notice
	if props.PageTopic != nil {
		j.page = props.PageTopic
	}
	if props.NoticeTopic != nil {
		j.notice = props.NoticeTopic
	}
	if !s.shared {
		j.newAlarms(props.Alarms, props.Disabled)
	}
	s.dashboard.add(j)
}

// OverdueAlarm pages when no run has succeeded by the time one should have, or nothing is
// known of the job for five minutes. It is nil where the props leave it out or the
// scheduler's alarms are shared; so are the other three.
func (j *Job) OverdueAlarm() awscloudwatch.Alarm { return j.overdueAlarm }

// FailedAlarm pages when a run has failed, until the next one succeeds.
func (j *Job) FailedAlarm() awscloudwatch.Alarm { return j.failedAlarm }

// RatioAlarm gives notice when a run has taken 0.8 of the job's interval or more, while it
// still runs or at its end.
func (j *Job) RatioAlarm() awscloudwatch.Alarm { return j.ratioAlarm }

// SkipAlarm gives notice of three skipped ticks in a row.
func (j *Job) SkipAlarm() awscloudwatch.Alarm { return j.skipAlarm }

// checkAlarms refuses what no alarm can be made of.
func (p *JobProps) checkAlarms(bad *problems) {
	p.Alarms.check(bad)
	checkText("owner", p.Owner, maxOwner, bad)
	checkText("runbook", p.Runbook, maxRunbook, bad)
	if p.Scheduler == nil || !p.Scheduler.shared {
		return
	}
	if p.Alarms != (JobAlarms{}) || p.PageTopic != nil || p.NoticeTopic != nil {
		bad.addf("alarms or topics of a job whose scheduler has shared alarms: must be left out; AddRatioAlarm and its like add one of the job's own")
	}
}
