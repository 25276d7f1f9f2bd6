// Package schedule understands EventBridge Scheduler's expressions - cron(...), rate(...)
// and at(...) with an IANA time zone, a start and an end - the way AWS evaluates them.
package schedule
