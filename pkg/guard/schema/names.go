package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// GroupName is the name of a scheduler's group of schedules: the command line finds
// schedulers by the prefix GroupPrefix and a job's schedule by group and job.
func GroupName(scheduler string) string { return GroupPrefix + scheduler }

// GroupPrefix is what the names of all schedulers' groups begin with.
const GroupPrefix = "cronfence-"

// TagTable is the tag of a scheduler's group of schedules that names the scheduler's table:
// whoever may list groups finds the records.
const TagTable = "cronfence:table"

// AlarmPrefix is what the names of all alarms begin with: the scheduler's name and a slash follow.
const AlarmPrefix = "cronfence/"

// maxScheduleName is EventBridge Scheduler's limit.
const maxScheduleName = 64

// ScheduleName is the name of a job's schedule, JOB.SCHEDULER. To CloudFormation the name
// alone, without the group, identifies a schedule in an account, so it must say both. Where
// that is longer than EventBridge Scheduler allows, a hash stands for the scheduler.
func ScheduleName(scheduler, job string) string {
	name := job + "." + scheduler
	if len(name) <= maxScheduleName {
		return name
	}
	sum := sha256.Sum256([]byte(scheduler))
	return job + "." + hex.EncodeToString(sum[:5])
}

// JobOfSchedule is the job that a schedule of a scheduler's group belongs to.
func JobOfSchedule(name string) string {
	job, _, _ := strings.Cut(name, ".")
	return job
}

// SweepScheduleName is the name of the sentinel's schedule: no job's name begins with an
// underscore.
func SweepScheduleName(scheduler string) string { return "_sentinel." + scheduler }

// Environment variables of the Lambda functions.
const (
	EnvScheduler = "CRONFENCE_SCHEDULER" // the scheduler's name
	EnvTable     = "CRONFENCE_TABLE"     // the table's name
)
