// Package explore checks the protocol exhaustively: it visits every state that a small model
// of a scheduler can reach, over the real code of the dispatcher's, the heartbeat's, the
// settler's and the sentinel's work, and holds each against the invariants I1 to I10.
//
// # The model
//
// One job, three planned ticks, and everything that the job's processes and the world may do:
// two dispatchers at a time, a settler for each run's own word and for each status event, the
// heartbeat, the sentinel. Every request to the store or to Step Functions is a point between
// which anything else may happen. A run succeeds at any instant or goes on until its time is
// over, and beats at most twice. On each path as many faults strike as the bound says, of any
// kinds and at any point: with two, every pair of them (see [Fault]).
//
// The second tick is planned while the first run is going on, the third after the lease of a
// run that died with its first tick: every policy has to decide on a holder that lives, on one
// that is due, on what drains and on a guard that is free.
//
// A call cannot be copied in the middle. But what it does next is a function of its input, of
// the answers it got and of the clock when they came; so a state holds its answers, and the
// real code is run again from its beginning up to the next effect. Calls that were given the
// same are one node of a tree, so this is done once for each.
//
// Time stands still while anything is due or under way. It then goes to the next named instant:
// a planned tick, a beat, the end of a run's time, a second before and a second after what the
// guard and its rows compare the clock with, the repetition of an invocation that failed. A
// process lets time go by only if a fault has it stand still. The sentinel may sweep at every
// instant, or not.
//
// When nothing more is named, everything has to come right by itself: what faults held back
// arrives, the sentinel sweeps, runs succeed. Then no job may be blocked, every tick must be on
// record with one final outcome, and one more tick must start.
//
// # What makes states equal, and why that loses nothing
//
//   - An invocation that is due is the same as one that was made and stands before its first
//     effect: it has read nothing but the clock, which stands still.
//   - The order in which calls and invocations are kept means nothing: which of two
//     dispatchers delivers a tick is no difference. (Symmetry.)
//   - Notes for people (why, holder, delay, run time and the like) are left out of records: no
//     transition reads them. A test explores with and without and compares.
//   - The writer's token is kept only in a row whose writer is about to repeat its request:
//     nobody else compares it.
//   - Once no call is under way, nobody has seen the guard's version: it is compared with the
//     clock and with fences alone, so one that is below the clock may as well be the highest
//     fence. Only the number of writes since is forgotten.
//   - Instants of an execution that ended so long ago that no drain counts from them, and a
//     drain that is over by every clock, are forgotten.
//   - A beat whose run has ended is dropped once it can do nothing: nobody hears of its answer,
//     gone through with it changes nothing, and what it would write asks for a fence that the
//     guard does not have and, by I2, will never have again.
//   - A call that met two different histories but got the same answers at the same instants
//     does the same.
//
// States are known by a hash of 64 bits. Two different states with the same hash would be taken
// for one: among 50 million states the chance that any two are is below one in ten thousand.
//
// # The bound
//
// With -explore.full it is three ticks and every pair of faults, for Skip, QueueOne and Replace,
// with and without beats. Beats then fall between the ticks. Where both fall on the same
// instants a heartbeat stands beside every dispatcher, and the states are four times as many:
// there every single fault is explored, not every pair. -explore.states ends each configuration
// early, nearest states first, and its line says so: `make explore` takes 25 million of each, which
// takes about ten minutes on two cores, and every single fault whole. Without the flags it is three
// ticks and no fault, and two ticks and one.
//
// # What is not in the model
//
// More than one job, policy Allow, manual runs, backlogs, pauses and forced releases (the
// simulation has them); the guard deleted together with every row of a run that is going on, of
// which nothing is left to tell; a start that is refused for good and accepted later, which the
// contract of machine.ErrPermanent excludes; clocks that differ by more than the margin.
package explore
