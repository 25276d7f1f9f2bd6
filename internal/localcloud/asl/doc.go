// Package asl interprets the Amazon States Language as it stands in a synthesized
// template: every state type with Retry, Catch, timeouts, heartbeats and variables, in
// JSONPath and in JSONata. What it does not know - a state type, a field, a path syntax,
// a distributed Map - it refuses by name in [Parse], before anything runs, rather than
// running it wrong.
//
// It follows what AWS was recorded to do where that differs from the specification:
// States.Runtime is never caught, not even by name; an error without a cause reaches a
// Catch with an empty one; a retried state is entered once; a heartbeat that does not come
// is States.Timeout.
//
// Not as on AWS: decoded JSON has lost the order of an object's fields, so whatever turns
// objects into text (States.Format, States.JsonToString, $string) has them sorted; a seed
// of States.MathRandom gives the same number each time, but not the one that AWS gives;
// within a larger JSONata expression a path that leads to an empty list leads to nothing.
//
// The package starts no clock and calls nothing by itself: time comes from a [Clock],
// tasks are run by a [Tasks], and every history event goes to an observer.
package asl
