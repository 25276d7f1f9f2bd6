// Package asl interprets the Amazon States Language as it stands in a synthesized
// template: Task, Wait, Parallel, Choice, Pass, Succeed and Fail with Retry, Catch,
// timeouts and the JSONPath data flow. What it does not know - a state type, a field,
// a path syntax - it refuses by name in [Parse], before anything runs, rather than
// running it wrong.
//
// It follows what AWS was recorded to do where that differs from the specification:
// States.Runtime is never caught, not even by name; an error without a cause reaches a
// Catch with an empty one; a retried state is entered once.
//
// The package starts no clock and calls nothing by itself: time comes from a [Clock],
// tasks are run by a [Tasks], and every history event goes to an observer.
package asl
