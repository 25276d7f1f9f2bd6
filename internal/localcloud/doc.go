// Package localcloud runs a synthesized assembly in one process: it ticks the schedules,
// calls the handlers over the Lambda Runtime API, interprets the state machines, delivers
// status events and keeps the records in memory. What runs is what is deployed; only the
// services around it are played.
//
// Time is the local cloud's own (package clock): schedules, waits, leases and function
// timeouts all go by it.
package localcloud
