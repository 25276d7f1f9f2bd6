package guardtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/cronfence/cronfence/pkg/guard"
)

// Linearizable lets clients commit to and read the records of one job at once and checks that
// what they saw - refusals with the rows they show included - could have come from doing one
// after the other. The job's guard must be ready; see Ready. What a client does next depends
// on the seed and on what it saw, so a seed replays its choices, not the interleaving.
func Linearizable(s guard.Store, name string, seed uint64, clients, each int) error {
	g, err := s.Guard(context.Background(), name)
	if err != nil {
		return err
	}
	h := &history{store: s, job: name}
	h.now.Store(int64(t0))
	var wg sync.WaitGroup
	failed := make([]error, clients)
	for i := range clients {
		c := &client{history: h, id: i, rng: rand.New(rand.NewPCG(seed, uint64(i))), seen: g}
		wg.Go(func() { failed[i] = c.run(each) })
	}
	wg.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	// A history that is not linearizable may take for ever to be shown so.
	switch porcupine.CheckOperationsTimeout(model(g), h.ops, time.Minute) {
	case porcupine.Ok:
		return nil
	case porcupine.Unknown:
		return fmt.Errorf("seed %d: %d operations of %d clients: not decided within a minute", seed, len(h.ops), clients)
	default:
		return fmt.Errorf("seed %d: %d operations of %d clients: not linearizable", seed, len(h.ops), clients)
	}
}

// history is what the clients did, and what they know in common.
type history struct {
	store guard.Store
	job   string
	now   atomic.Int64 // the clients' clock
	order atomic.Int64 // of calls and returns

	mu   sync.Mutex
	ops  []porcupine.Operation
	runs []guard.Row // that somebody claimed
}

// call is a commit, or the reading of the guard or of a tick's row.
type call struct {
	commit *guard.Commit
	tick   string // whose row is read; "" for the guard
}

type answer struct {
	refused *guard.Refused
	guard   *guard.Guard
	row     *guard.Row
}

type client struct {
	*history
	id    int
	rng   *rand.Rand
	token int
	seen  *guard.Guard // perhaps long ago
}

func (c *client) run(each int) error {
	for range each {
		in, claimed := c.choose()
		call := c.order.Add(1)
		out, err := c.ask(in)
		if err != nil {
			return fmt.Errorf("client %d: %w", c.id, err)
		}
		c.mu.Lock()
		c.ops = append(c.ops, porcupine.Operation{ClientId: c.id, Input: in, Call: call, Output: out, Return: c.order.Add(1)})
		if claimed != nil && out.refused == nil {
			c.runs = append(c.runs, *claimed)
		}
		c.mu.Unlock()
		switch {
		case out.guard != nil:
			c.seen = out.guard
		case out.refused != nil && out.refused.Guard != nil:
			c.seen = out.refused.Guard
		}
	}
	return nil
}

// ask calls the store until it decides.
func (c *client) ask(in call) (out answer, err error) {
	ctx := context.Background()
	for range 100 {
		switch {
		case in.commit != nil:
			refused := new(guard.Refused)
			if err = c.store.Commit(ctx, *in.commit); errors.As(err, &refused) {
				return answer{refused: refused}, nil
			}
		case in.tick != "":
			out.row, err = c.store.Row(ctx, c.job, in.tick)
		default:
			out.guard, err = c.store.Guard(ctx, c.job)
		}
		if !errors.Is(err, guard.ErrBusy) {
			return out, err
		}
	}
	return out, err
}

// choose picks what to do next: mostly what others are doing too. claimed is the row of a claim.
func (c *client) choose() (in call, claimed *guard.Row) {
	now := guard.Millis(c.now.Add(1 + c.rng.Int64N(20_000)))
	c.token++
	token := fmt.Sprintf("c%d-%d", c.id, c.token)
	d := Delivery(c.job, int(now-t0)/60_000-c.rng.IntN(3), token)
	d.Prev = 0
	run := c.anyRun()
	switch n := c.rng.IntN(10); {
	case n < 2:
		dec, _ := guard.BlindClaim(d, now)
		if dec.Commit != nil {
			return call{commit: dec.Commit}, &dec.Row
		}
	case n < 4 && run != nil:
		end := guard.End{Job: c.job, Tick: run.Tick, Run: run.Run, Fence: run.Fence, Outcome: guard.Succeeded, EndedAt: now, Token: token}
		dec, _ := guard.BlindSettle(end, now)
		return call{commit: dec.Commit}, nil
	case n < 5 && run != nil:
		beat := guard.BlindBeat(guard.Beat{Job: c.job, Run: run.Run, Fence: run.Fence, Lease: 2 * time.Minute}, now)
		return call{commit: &beat}, nil
	case n < 7:
		return call{}, nil
	case n < 8:
		return call{tick: d.Tick}, nil
	}
	if c.rng.IntN(4) == 0 {
		return call{commit: guard.PauseJob(*c.seen, guard.Pause{By: token, At: now, Until: now + 5}, token).Commit}, nil
	}
	if dec := guard.Deliver(d, c.seen, nil, now); dec.Commit != nil { // on what may be old
		if dec.Verdict == guard.Start {
			claimed = &dec.Row
		}
		return call{commit: dec.Commit}, claimed
	}
	return call{}, nil
}

func (c *client) anyRun() *guard.Row {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.runs) == 0 {
		return nil
	}
	run := c.runs[len(c.runs)-1-c.rng.IntN(min(3, len(c.runs)))]
	return &run
}
