// Package localcloud runs a synthesized assembly in one process: it ticks the schedules,
// calls the handlers over the Lambda Runtime API, interprets the state machines, delivers
// status events and keeps the records in memory. What runs is what is deployed; only the
// services around it are played.
//
// A job's work runs as it is deployed where that is possible: a Lambda function of this
// repository in this process, one of the user's as the bootstrap that was built, another
// state machine as such. Everything else - containers, Batch, Glue, workers behind a queue,
// what the interpreter refuses - is named in the notices, and a command of the user's may
// stand in for it. Nothing that runs here gets the caller's AWS credentials unless an
// emulator is meant; a command is the user's own and gets the user's environment.
//
// What jobs do in DynamoDB - read their guard, check it in a transaction, keep notes, write
// items of their own - they do in one of the local cloud's (package dynamodbapi).
//
// What may go wrong in AWS goes wrong here when it is asked for (package fault): at the
// boundaries, where the functions meet the services, so that the functions know nothing of it.
//
// Time is the local cloud's own (package clock): schedules, waits, leases and function
// timeouts all go by it.
package localcloud
