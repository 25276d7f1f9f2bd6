package schema

// GroupName is the name of a scheduler's group of schedules: the command line finds
// schedulers by the prefix GroupPrefix and a job's schedule by group and job.
func GroupName(scheduler string) string { return GroupPrefix + scheduler }

// GroupPrefix is what the names of all schedulers' groups begin with.
const GroupPrefix = "cronfence-"

// Environment variables of the Lambda functions.
const (
	EnvScheduler = "CRONFENCE_SCHEDULER" // the scheduler's name
	EnvTable     = "CRONFENCE_TABLE"     // the table's name
)
