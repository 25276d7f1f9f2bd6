// Package cronfence is a CDK construct library for scheduled jobs that never overlap
// themselves by accident. A [Scheduler] makes the table, the functions, the queue and the
// sentinel's sweeps once; each [Job] makes a schedule, a state machine and its alarms. What a
// job does is its [Target].
//
// Props are plain Go values; a zero value means the documented default, and wrong props
// panic at synth with a [PropsError] that names the construct, the value got and what
// is allowed.
//
// Two things are fixed names, because policies, the status rule and the command line
// match them: state machines are called SCHEDULER_JOB, and the group of schedules
// cronfence-SCHEDULER. So a scheduler's name is unique in an account and Region. Every
// other name is CloudFormation's or made from these two.
//
// # Changing jobs while they run
//
// A run keeps the state machine's definition that it was started with, and a lease, a maximum
// run time and a drain time that were fixed then.
//
//   - Another schedule: the next tick comes by the new one. Nothing becomes due in retrospect:
//     ticks are expected from the moment on that the scheduler learns of the change.
//   - Another payload or target: the next run has it. A run of the old target is still waited
//     for; the permission to stop it goes with the deployment, so a run of ECS, Batch or Glue
//     that is to be stopped should be stopped before its target is taken away.
//   - Another overlap policy: holds for the next tick. Runs that policy.Allow left side by
//     side count as holders under the new one.
//   - Disabled: nothing is expected until it is enabled again, and nothing of the time between
//     is missed. A live run goes on and is recorded.
//   - Removed: schedule, state machine and alarms go, the records stay in the scheduler's
//     table. Step Functions deletes a machine when its executions have ended; a live run goes
//     on and is recorded.
//   - Added again under the same name: it goes on with the fences it had, and a live run from
//     before still holds the guard. Step Functions keeps the names of runs for 90 days: the
//     run of a tick that ran before is not run again.
//   - Renamed: to Cronfence that is another job, with a guard of its own. CloudFormation makes
//     the new one before it deletes the old, so both can run at a time: disable the job, deploy, wait for its
//     run to end, then rename it.
//
// # Upgrades
//
// Update the module and deploy: a schedule depends on the dispatcher in the template, so that
// no tick carries a new specification to an old dispatcher. With jobs in stacks of their own,
// deploy the scheduler's stack first, as the CDK does by itself within one app. Records and
// specifications are additive within a major version: runs that were started by the old
// version end under the new one, and a deployment can be rolled back while the new one's
// runs are live.
package cronfence
