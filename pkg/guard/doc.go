// Package guard is the protocol of Cronfence: what a job's guard and its ledger say, and the
// transitions between what they may say. The transitions are pure functions of records, an
// event and a time; they read no clock and call nothing. A Store commits what they decide.
//
// # Two questions
//
// Who runs this tick? The claim: the ledger row of (job, tick), created once. May anyone run
// now? The guard: one row per job, a lease with an expiry. A claim alone lets a job overrun
// into itself: every tick is claimed once and all of them run.
//
// # The guard
//
//	             create                     rows closed, or none
//	(missing) ------------->  BLOCKED  ------------------------->  FREE <-----------+
//	     ^                       |  ticks: Skipped(guard blocked)   |               |
//	     | deleted by hand       |                                  | acquire       | drain over
//	     +-----------------------+----------------------------------|---------+     |
//	                                                                v         |     |
//	   renew (run, fence, no mark, before maxRunUntil      +---->  HELD  -----+  DRAINING
//	   and stopDeadline)                                   +------  |              ^
//	                                                                | settle       |
//	   lease out / stop overdue / released by force                 | (run, fence) |
//	   HELD -> MARKED -> stopped -> seen to have ended -> settle    +--------------+
//	                                                                | work may linger
//	   settle hands HELD straight on to the tick that waits, in     |
//	   one commit: there is no free instant between                 +--> FREE / HELD
//
// Version rises with every write and is the compare-and-swap value of every exact commit. As
// it stands when a lease is acquired it is the fence. It is never below the clock of whoever
// acquires, and a guard made anew begins above every clock, so fences rise over the whole life
// of a job, deletion of its rows included.
//
// # Who is authoritative for what
//
//   - The guard, for who is trusted: the run it names, with the fence it carries, until
//     LeaseUntil. Nobody else, and no process's memory.
//   - The ledger row, for what became of a tick. A final outcome never changes.
//   - Step Functions, for whether an execution runs, under a name made from job, tick and
//     attempt. It is asked with Describe, never with a list, and "no such execution" is
//     believed only once nobody may start it any more (StartBy plus margin).
//   - The clock of whoever acquires next, for expiry. TTL deletes rubbish and decides nothing.
//   - The schedule, for which ticks are expected; LastTick, for how far they are on record.
//
// # Commits
//
// Guard and row change in one transaction, so there is no claim without its guard and no guard
// without its claim. The common transitions are tried blind: their conditions are a predicate
// that implies the decision (see claimNeeds and settleNeeds, which name every field). A refused
// condition brings the old rows back, the decision is made on them and committed exactly, on
// the version seen. A conflict or a throttle refuses nothing and decides nothing. A writer knows
// its own write by the token in the row, so a request that the SDK repeats is no rival; where only
// the guard is written, by a guard that is to the millisecond as it would have made it.
//
// # What goes wrong, and what happens then
//
//   - A tick is delivered twice: the row is there. Final: Duplicate. Running and not given up:
//     the same start again, with the same name and input, so one execution comes of both.
//   - The dispatcher dies before its commit: nothing happened; Lambda delivers again.
//   - It dies between commit and start: the next delivery or the sweep sends the start, until
//     StartBy. After that nobody does, and the run is Abandoned once StartBy plus margin is
//     over: a process that wakes up late must not start what others have given up. StartBy lies
//     not past the tick's start deadline, but for who claims it at the last moment.
//   - A start's answer is lost: "exists" with the same fence is this run; with another fence it
//     is a stranger from before the guard was lost, and the run is Failed, never swallowed.
//   - The run dies, or its machine fails in a way it cannot catch: its status event settles it;
//     if that is lost too, its lease runs out and whoever comes next looks at the execution and
//     settles it with its true outcome.
//   - The run lives and its beats do not arrive: after lease and margin it is marked, stopped,
//     seen to have ended, and only then taken over, as LeaseLost. A mark refuses its renewal;
//     its own end still counts.
//   - Somebody asks for a run around the time of a planned tick: it eats none. A planned tick is older
//     than a later planned one alone; of the two that would wait the planned one does, and the manual
//     run is Coalesced.
//   - A tick waits to replace the holder: who delivers it asks the holder to stop, once, unless the
//     job is paused. A pause withdraws the request while there is time; whoever ends it, or the
//     sweep after one that ran out, asks again.
//   - A run is lost and the job asks for retries: another attempt under a new name and fence, once the
//     work of the lost one is over; none while the job is paused, a tick waits to replace it, or a run
//     goes on that an override let in beside it.
//   - It cannot be stopped: it keeps its place, ticks are skipped, and a warning says so. For a
//     job that fences its writes its end is not awaited: they are refused from the next fence on.
//   - A person releases a run, and the guard goes to another before it is marked: refused. A release
//     is of the run that was shown or, where none was, that it reads first.
//   - An execution has ended and its work may not have (a Lambda goes on until its timeout): the
//     guard is held until the drain is over, except after success, or after an error that the
//     one task returned itself.
//   - An end is reported twice, late, or by a run that lost its guard: conditions on run and
//     fence fail, the row says what is on record, nothing changes.
//   - A process is paused past its lease and goes on: its commits fail on the version or the
//     fence; its start is not sent past its own deadline; its work's writes fail where the fence
//     is checked.
//   - A tick waits and its hand-over's start fails: the run is on record as Running, the sweep
//     starts it. One that waits past its start deadline is Expired, and its stop request withdrawn.
//   - The guard is deleted: made anew, blocked. It stays so for as long as a run of the old one
//     could be trusted or its work go on; then open rows are closed as a take-over closes them. Of
//     a run that ends meanwhile the guard keeps the drain. One that ends while there is no guard is
//     covered by the time that a new one stays blocked, a lease and the drain of the spec that
//     stands: not by a longer drain that an edit took away in between.
//     The job pays with a standstill and its run, never with an overlap, as long as its rows are there.
//     A pause, a backfill and what was to be caught up with are the guard's alone and gone with it:
//     pause the job anew.
//   - A ledger row is deleted: an end brings back what it knows of it. LastTick remembers that
//     the tick was decided.
//   - Ticks never come: once start deadline and delivery grace are over they are recorded as
//     Missed, neighbours as one gap. LastTick never passes a tick that may still come. A rate has
//     its phase from its ticks; until the first of a spec its next is expected an interval after
//     the spec was seen, at the latest, so where a spec was changed up to an interval may pass without
//     a Missed. What lies before, a backlog's ticks among it, keeps the phase that it had.
//   - A backfill's ticks fail: they are on record, and the backfill goes on. Asked for again, it runs
//     those that no backfill before it brought to a success, under ids, and so runs, of their own;
//     where the rows of a success are deleted before their turn comes, TTL's doing too, those as well.
//     One that a backfill before it is still running when it is asked for goes by what becomes of it.
//     A tick that may still come by itself is not backfilled. Under Replace planned ticks wait for a
//     backfill's run, or none that outlasts the interval would come to its end; under Allow a
//     backlog's runs, one at a time, begin beside the planned ones and what lingers of them.
//   - A backfill or catch-up cannot go on: its time is over, the schedule whose ticks they are is
//     edited, or Step Functions refuses for good to start one of its runs. It is ended on the
//     record, as a person ends it: the refused tick is Failed and no other is tried, since the
//     cause is not the tick's. Its time ends it even while something keeps it waiting.
//   - A spec is edited: expectation begins anew; nothing becomes retroactive. A tick of the old
//     schedule that is still on its way is decided as ever, although LastTick, which speaks for
//     the new one, may have passed it; its row alone says whether it was decided before. If
//     somebody deletes that row within the tick's window, a redelivery decides it once more. A
//     policy that is Replace no longer withdraws its stop request while there is time, and its tick
//     waits for the holder's end. A run keeps the drain time and the word on its fences that it began
//     with, if those that stand now are no safer; runs of Allow hold on for as long as their own spec
//     let them, and what one brought late meets the policy that stands. What was to be caught up with
//     of another schedule stays missed, and a backfill of its ticks ends. A job is removed: nothing is
//     expected of it, its guard stays for its fences; a tick that waits still runs, and so does a
//     backfill.
//
// # The margin
//
// [Margin] is the largest difference between any two clocks that the argument allows for.
// Expiry, drain and give-up are all judged with the margin on the safe side: a holder believes
// in its lease until LeaseUntil by its clock, and others take over only past LeaseUntil plus
// margin by theirs. A clock that is off by more can make two runs believe they are trusted at
// once; the fence still orders their writes. Lambda keeps the clocks of the functions. Nobody keeps
// that of a person's machine: what the command line does by it is refused if the Date of the answer
// to its read of the guard shows it off by more than half the margin, whatever the answer's way took.
// An answer without a Date refuses nothing.
//
// # What is not guaranteed
//
//   - Exactly-once effects. A paused process can still try to write late. The fence is what
//     makes the write fail, so only writes that check it are protected.
//   - Anything about runs of policy Allow beyond their record; and that stays open for one that said
//     nothing of its end if nobody sweeps for a week beyond the longest run.
//   - The guard and the open row of a run both deleted while it works: nobody can know of it.
//   - A metric point of every outcome: it is written behind the commit, by whoever made it, and a
//     process that dies between the two writes none. Overdue and the report are of the table.
//   - Order among ticks beyond: the newest waits (or the first, if so chosen).
//   - More than one Region. A global table checks conditions where the write arrives.
//   - A table restored from a backup knows no fence given since: resume its jobs only after the
//     runs of before have ended.
package guard
