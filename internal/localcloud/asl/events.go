package asl

import "time"

// Event is one entry of an execution's history, with the types that AWS uses.
type Event struct {
	At    time.Time
	Type  string
	State string // the state's name; "" for the execution's own
	// Error is set for what failed.
	Error *Error
	// Attempt counts the attempts of a task from 1; set with the task's own events.
	Attempt int
}

// MaxEvents is the length of a history at which Step Functions fails an execution.
const MaxEvents = 25000
