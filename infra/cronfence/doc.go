// Package cronfence is a CDK construct library for scheduled jobs that never overlap
// themselves by accident. A [Scheduler] makes the table, the functions and the queue
// once; each [Job] makes a schedule, a state machine and two alarms.
//
// Props are plain Go values; a zero value means the documented default, and wrong props
// panic at synth with a [PropsError] that names the construct, the value got and what
// is allowed.
//
// Two things are fixed names, because policies, the status rule and the command line
// match them: state machines are called SCHEDULER_JOB, and the group of schedules
// cronfence-SCHEDULER. So a scheduler's name is unique in an account and Region. Every
// other name is CloudFormation's or made from these two.
package cronfence
