package localcloud

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"net"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/cronfence/cronfence/internal/localcloud/assembly"
	"github.com/cronfence/cronfence/internal/localcloud/clock"
	"github.com/cronfence/cronfence/internal/localcloud/dynamodbapi"
	"github.com/cronfence/cronfence/internal/localcloud/fault"
	"github.com/cronfence/cronfence/internal/localcloud/lambdaapi"
	"github.com/cronfence/cronfence/pkg/guard"
)

// Config says what to run and how.
type Config struct {
	Assembly fs.FS // a cloud assembly: manifest.json and templates
	// Directory is where Assembly is on disk, for functions to run as built; "" means that
	// none does.
	Directory string
	Start     time.Time // what the local clock shows at first
	Speed     float64   // local time per real time
	// For is how long ticks are delivered, in local time; 0 means until the context ends.
	For time.Duration
	// Exec holds commands for the shell by the name of the job that they are the work of.
	Exec map[string]string
	Log  io.Writer // a plain line for every decision
	Out  io.Writer // what the commands write

	listen func() (net.Listener, error) // for the APIs of AWS; nil is on a free port of 127.0.0.1
}

// Cloud is a local cloud. It runs once.
type Cloud struct {
	config  Config
	clock   *clock.Clock
	journal *journal
	lines   *lines
	lambda  *lambdaapi.Server
	states  *stepFunctions
	faults  *fault.Set
	async   *async
	jobs    []*job
	sweeps  []sweep
	stores  map[string]*guard.Memory // by table
	meters  meters
	tables  *dynamodbapi.Server // what jobs have for DynamoDB
	dynamo  *dynamodb.Client    // speaks to it
	notices []string
	// processes says that functions run as built.
	processes bool
	work      tracker

	ctx  context.Context // ends what is in flight
	quit context.CancelFunc
}

// closeGrace is how long functions and commands have to end, in real time: longer than a
// command has between SIGTERM and SIGKILL.
const closeGrace = 15 * time.Second

// New reads the assembly and makes everything ready. Close must be called.
func New(config Config) (*Cloud, error) {
	a, err := assembly.Load(config.Assembly)
	if err != nil {
		return nil, config.in(err)
	}
	c := &Cloud{config: config, clock: clock.New(config.Start, config.Speed), stores: map[string]*guard.Memory{}, notices: a.Notices}
	c.meters.functions = map[string]*meter{}
	c.lines = &lines{now: c.clock.Now}
	c.journal = &journal{out: config.Log, now: c.clock.Now, lines: c.lines}
	c.ctx, c.quit = context.WithCancel(context.Background())
	c.faults = c.newFaults()
	if c.config.listen == nil {
		c.config.listen = func() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }
	}
	listener, err := c.config.listen()
	if err != nil {
		return nil, fmt.Errorf("listen for the Lambda Runtime API: %w", err)
	}
	c.lambda = lambdaapi.NewServer(c.clock, listener)
	if err := c.build(a); err != nil {
		_ = c.Close()
		return nil, config.in(err)
	}
	return c, nil
}

// in names the assembly that an error is about, where it is the user's own.
func (c Config) in(err error) error {
	if c.Directory == "" {
		return err
	}
	return fmt.Errorf("assembly %s: %w", c.Directory, err)
}

// Now is the local cloud's time.
func (c *Cloud) Now() time.Time { return c.clock.Now() }

// Notices says what of the assembly does not run here.
func (c *Cloud) Notices() []string { return c.notices }

// DeadLetters are the events that were given up so far.
func (c *Cloud) DeadLetters() []DeadLetter { return c.async.buried() }

// Run delivers ticks until the time given by For is over, lets what is in flight finish,
// and reports. When ctx ends before that it stops at once and reports what is.
func (c *Cloud) Run(ctx context.Context) (*Report, error) {
	began := c.clock.Now()
	var until time.Time
	if c.config.For > 0 {
		until = c.config.Start.Add(c.config.For)
	}
	sweeping, stopSweeping := context.WithCancel(c.ctx)
	var sweepers tracker
	for _, s := range c.sweeps {
		sweepers.Go(func() { c.keepSweeping(sweeping, s) })
	}
	var tickers tracker
	for _, j := range c.jobs {
		if !j.disabled {
			tickers.Go(func() { c.tick(ctx, j, c.config.Start, until) })
		}
	}
	var early error
	if c.config.For > 0 {
		early = c.clock.SleepUntil(ctx, until)
		if n := c.states.running(); n > 0 && ctx.Err() == nil {
			c.journal.note(fmt.Sprintf("no more ticks after %v; waiting for what is in flight: %d runs", c.config.For, n))
		}
	} else {
		<-ctx.Done()
		early = ctx.Err()
	}
	_ = tickers.wait(context.Background()) // they end with the time or with ctx
	if err := c.work.wait(ctx); early == nil {
		early = err
	}
	stopSweeping()
	_ = sweepers.wait(context.Background())
	ended := c.clock.Now()
	if err := c.Close(); err != nil {
		return nil, err
	}
	return c.report(began, ended, early != nil)
}

// Close ends everything that runs: executions, functions, commands. It may be called
// more than once.
func (c *Cloud) Close() error {
	c.faults.Close()
	c.quit()
	if c.tables != nil { // after all that speaks to it
		defer c.tables.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	if err := c.lambda.Close(ctx); err != nil {
		return fmt.Errorf("close the local cloud: %w", err)
	}
	if err := c.work.wait(ctx); err != nil {
		return fmt.Errorf("close the local cloud: executions did not end: %w", err)
	}
	return nil
}

// store is the memory store that stands for a table.
func (c *Cloud) store(table string) *guard.Memory {
	if c.stores[table] == nil {
		c.stores[table] = guard.NewMemory()
	}
	return c.stores[table]
}

func newToken() string { return rand.Text() }
