// Package schedule understands EventBridge Scheduler's expressions - cron(...), rate(...)
// and at(...) with an IANA time zone, a start and an end - the way AWS evaluates them: what
// the next and the previous tick are, how far apart two ticks really are, and how many lie
// between two instants. Zone data is embedded; no zone files are needed.
//
// # What AWS documents
//
// A cron expression has six fields: minute, hour, day-of-month, month, day-of-week, year.
// Exactly one of the two day fields is ?. Weekdays are 1-7 or SUN-SAT, 1 is Sunday. L is the
// last day of the month, in day-of-week the last day of the week (Saturday); 6L is the last
// Friday, 3W the weekday nearest to the 3rd, 3#2 the second Tuesday. A local time that a
// change of clocks leaves out is skipped; one that comes twice runs once. The days of a rate
// are 24 hours each. A rate's first tick is its start.
//
// # What AWS leaves open, and the choice made here
//
// Where AWS is silent the rule is: refuse what AWS might refuse, unless people report that it
// works; never give an expression another meaning than Quartz, whose dialect AWS follows.
//
//   - A local time that comes twice runs the first time, before the shift.
//   - at(...) in a gap names an instant that never comes: refused, as every expression
//     without a single tick between its start and end is.
//   - at(...) takes neither start nor end: AWS ignores them, so they can only be a mistake.
//   - A tick at exactly the start or the end counts. Both are cut to whole seconds.
//   - The years of every kind of schedule are those of cron's year field, 1970-2199.
//   - A rate without a start takes its phase from the tick given to [Schedule.Anchored]; until
//     then it counts from the epoch, 1970-01-01T00:00:00Z, so that a rate that divides the
//     day ticks at midnight UTC. AWS counts from the schedule's creation.
//   - rate(1 minutes) and rate(5 minute) are refused, as EventBridge's rules do. A rate is at
//     most 36,500 days.
//   - nW in a month without a day n has no tick. nW never leaves its month.
//   - LW, the last weekday of the month, is taken: it is reported to work. L-3 is refused.
//   - L, W and # stand alone: no lists of them. Names work before L and # (FRIL, MON#1).
//   - A list holds values, ranges and steps; * stands alone or before a step; ? alone.
//   - A step follows a value, a range or *; a/n means from a to the field's end. It is at
//     least 1 and at most the field's largest value; */60 in minutes, which AWS refuses, is
//     refused. Steps work in day-of-week too.
//   - Ranges do not run backwards (22-2); the error gives the equal list.
//   - Names are read in any case. [Schedule.Expression] gives them in capitals, and one blank
//     between fields, which is the form AWS documents. Leading zeros are kept.
package schedule
