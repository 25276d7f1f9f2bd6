package soak

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"

	"github.com/cronfence/cronfence/internal/localcloud/clock"
	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/dynamo"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// cloud is what the handlers run on.
type cloud struct {
	t      *testing.T
	clock  *clock.Clock
	specs  map[string]schema.Spec // by job
	states *states
	aws    aws.Config
	table  string
	store  guard.Store // without faults, for the test itself
	seen   *seen

	faulty atomic.Bool
	ctx    context.Context // ends everything
	quit   context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	random *mathrand.Rand
	counts map[string]int // of what happened
}

func newCloud(t *testing.T, specs []schema.Spec, seed uint64) *cloud {
	t.Helper()
	emulator := rig.Ministack(t)
	c := &cloud{
		t: t, clock: clock.New(time.Now().UTC().Truncate(time.Minute), *speed), specs: map[string]schema.Spec{},
		aws: quiet(emulator.Config), table: emulator.Table(t), seen: newSeen(),
		random: mathrand.New(mathrand.NewPCG(seed, seed)), counts: map[string]int{}, //nolint:gosec // repeatable, not secret
	}
	c.store = dynamo.New(dynamodb.NewFromConfig(c.aws), c.table)
	c.ctx, c.quit = context.WithCancel(t.Context())
	for _, s := range specs {
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		c.specs[s.Job] = s
	}
	c.states = &states{cloud: c, executions: map[string]*execution{}}
	return c
}

// quiet keeps the SDK from warning of answers that were meant to be lost.
func quiet(config aws.Config) aws.Config {
	config.Logger = logging.Nop{}
	return config
}

// close ends what still goes on.
func (c *cloud) close() {
	c.quit()
	c.work.Wait()
}

// draw is a random number of [0, n).
func (c *cloud) draw(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n)
}

// chance is true so many times in a hundred, once faults are on.
func (c *cloud) chance(percent int) bool { return c.draw(100) < percent && c.faulty.Load() }

// between is a random duration.
func (c *cloud) between(a, b time.Duration) time.Duration {
	return a + time.Duration(c.draw(int((b-a)/time.Millisecond)))*time.Millisecond
}

func (c *cloud) count(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what]++
}

// process is one invocation of a function. Its clock is not quite the others', and it may die at
// one of its requests.
type process struct {
	cloud *cloud
	store guard.Store
	skew  time.Duration
	// dies is how many requests it has left, or less than 1 for one that lives.
	dies  int
	after bool // the last request takes effect
}

// skew is how far a process's clock may be from the true time: no two of them differ by more than
// the skew margin.
const skew = schema.SkewMargin / 2

// newProcess draws its faults.
func (c *cloud) newProcess() *process {
	p := &process{cloud: c}
	if c.faulty.Load() {
		p.skew = c.between(-skew, skew)
	}
	if c.chance(10) {
		p.dies, p.after = 1+c.draw(6), c.chance(50)
	}
	return p
}

// handler is that of a function, in its process.
type handler func(context.Context, *process, json.RawMessage) (any, error)

var errDied = errors.New("Runtime.ExitError: signal: killed")

// invoke runs a handler with an event, as bytes, as Lambda does.
func (c *cloud) invoke(timeout time.Duration, event any, handle handler) error {
	payload, err := json.Marshal(event)
	if err != nil {
		c.t.Error(err)
	}
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	defer c.clock.AfterFunc(timeout, cancel)()
	p := c.newProcess()
	config := c.aws.Copy()
	config.HTTPClient = p
	p.store = dynamo.New(dynamodb.NewFromConfig(config), c.table)
	err = errDied
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err = handle(ctx, p, payload)
	}()
	<-done
	return err
}

// What a handler finds in its process.
func (p *process) now() time.Time      { return p.cloud.clock.Now().Add(p.skew) }
func (p *process) token() string       { return rand.Text() }
func (p *process) out() io.Writer      { return io.Discard }
func (p *process) machines() *machines { return &machines{p} }

// fate is what becomes of a request.
type fate int

const (
	passes fate = iota
	throttled
	answerLost
	diesBefore // the process, and the request is not sent
	diesAfter  // the process, when the request took effect
)

func (p *process) fate() fate {
	if !p.cloud.faulty.Load() {
		return passes
	}
	if p.dies--; p.dies == 0 {
		if p.after {
			p.cloud.count("death after a request")
			return diesAfter
		}
		p.cloud.count("death before a request")
		return diesBefore
	}
	switch n := p.cloud.draw(100); n {
	case 0, 1:
		p.cloud.count("throttled request")
		return throttled
	case 2, 3:
		p.cloud.count("lost answer")
		return answerLost
	}
	return passes
}

var errLost = errors.New("connection reset by peer")

// Do implements aws.HTTPClient.
func (p *process) Do(req *http.Request) (*http.Response, error) {
	fate := p.fate()
	switch fate {
	case diesBefore:
		runtime.Goexit()
	case throttled:
		return rig.AWSError(http.StatusBadRequest, "ThrottlingException", ""), nil
	case passes, answerLost, diesAfter:
	}
	if fate != passes { // it arrives, whatever becomes of its sender
		req = req.WithContext(context.WithoutCancel(req.Context()))
	}
	resp, err := p.cloud.aws.HTTPClient.Do(req)
	if err != nil || fate == passes {
		return resp, err
	}
	_ = resp.Body.Close()
	if fate == diesAfter {
		runtime.Goexit()
	}
	return nil, errLost
}
