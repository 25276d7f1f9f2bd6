// Package job is what the author of a job imports: the run that a task received, a context
// that ends when the run should, and a budget for its work.
//
//	func main() { lambda.Start(job.Handler(cleanup, job.WithGuard(fencedynamo.Guard(client)))) }
//
//	func cleanup(ctx context.Context, run job.Run) error {
//		db, carts := fencedynamo.New(client, run), stale(ctx)
//		for len(carts) > 0 && run.Budget.More(ctx) {
//			... db.UpdateItem(ctx, ...)
//			carts = carts[1:]
//		}
//		return context.Cause(ctx)
//	}
//
// A container finds its run in the environment (FromEnv), a worker that takes messages with
// a task token in the message (FromToken); both pass it to Do.
//
// # What the context can and cannot do
//
// It asks a run to stop; it does not keep it from writing. A process that is paused - a
// frozen container, a long garbage collection, a virtual machine that moves - wakes up in
// the middle of a write and has not looked at its context. What keeps a late write out is
// the fence, checked where the write lands: see packages fencedynamo, fencesql, fences3,
// fenceredis and fencehttp, each of which states what it protects and what it cannot, and
// package jobtest, a drill that looks for writes that are not fenced.
//
// # What a job's role needs
//
//   - WithGuard: dynamodb:GetItem on the scheduler's table, for the leading key JOB.
//   - fencedynamo's check of the guard: dynamodb:ConditionCheckItem, for the same key.
//   - Package notes: dynamodb:PutItem (and dynamodb:Query to read them), for the leading key
//     note#JOB. Not for JOB: IAM knows no sort keys, so whoever may put an item under a job's
//     name may put a guard, and no job may write a guard.
//   - WithTokens: states:SendTaskHeartbeat, SendTaskSuccess and SendTaskFailure.
//
// A leading key is held to with the condition
// "ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["cleanup"]}. The constructs' GrantFence
// and GrantNotes give these permissions.
package job
