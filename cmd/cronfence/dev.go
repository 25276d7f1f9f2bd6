package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/localcloud"
	"github.com/cronfence/cronfence/internal/localcloud/example"
	"github.com/cronfence/cronfence/internal/localcloud/fault"
)

// maxSpeed is how fast the local cloud can go before the machine's own delays, a few
// milliseconds, count as seconds.
const maxSpeed = 600

// noisySpeed is where such delays begin to make runs late or lost that are well in AWS.
const noisySpeed = 100

type devOptions struct {
	assembly string
	speed    float64
	length   time.Duration
	exec     []string
	faults   []string
	json     bool

	listen string
	given  func(flag string) bool // whether the flag was given
}

func newDevCommand() *cobra.Command {
	var o devOptions
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run a synthesized app in a local cloud",
		Long:  devHelp(),
		Example: `  cronfence dev --for 1h --speed 60
  cronfence dev --assembly cdk.out --exec 'cleanup=./cleanup --dry-run'
  cronfence dev --for 20m --speed 60 --fault 'kill cleanup' --fault 'twice times 3'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.given = cmd.Flags().Changed
			work := func() error {
				return whileRead(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), func(ctx context.Context, out, errOut io.Writer) error {
					return runDev(ctx, o, out, errOut)
				})
			}
			if o.json {
				return documented(cmd, work)
			}
			return work()
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.assembly, "assembly", "", "directory of a synthesized app, such as cdk.out (default: the example app)")
	flags.Float64Var(&o.speed, "speed", 1, fmt.Sprintf("how many times as fast as real time, at most %d; above %d delays of this machine can make good runs fail", maxSpeed, noisySpeed))
	flags.DurationVar(&o.length, "for", 0, "end after that long in the local cloud's time (default: at Ctrl-C)")
	flags.StringArrayVar(&o.exec, "exec", nil, "JOB=COMMAND: run a shell command as the work of a job; may be repeated")
	flags.StringArrayVar(&o.faults, "fault", nil, "let something go wrong, such as 'kill cleanup at 5m'; may be repeated")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:7171", "HOST:PORT to listen on, for a browser and the verbs' --dev")
	flags.BoolVar(&o.json, "json", false, "write one JSON document at the end")
	allowed(cmd, "speed", fmt.Sprintf("must be more than 0 and at most %d", maxSpeed))
	return cmd
}

func devHelp() string {
	return `Runs a synthesized app - schedules, functions, state machines - in this process, on
records in memory. Without --assembly it runs the example app: a cleanup every minute that
takes 2 min 50 s, a sync every quarter of an hour, a nightly report.

It listens on 127.0.0.1:7171, for a browser and for the verbs' --dev, and answers on loopback
addresses only, unless --listen names another; port 0 is any free one. A taken port ends it,
but not with --for and without --listen. What changes something needs a token: it is part of
the address that is printed for the browser, and in a file of its user's for the verbs.

It prints a line for every decision and a table at the end. Times are the local cloud's
own, in UTC. With --for it stops ticking after that long, lets runs in flight finish and
ends, with exit code 1 if a tick has not exactly one final outcome or it was ended early.
Without, Ctrl-C, Ctrl-\ or SIGTERM ends it. So does a reader of its output that goes away. It
then ends the processes that it started and what these started, but for one that left its process
group, as with setsid: end that yourself. SIGKILL leaves them all.

Lambda functions with a bootstrap for this processor run as built, without the caller's AWS
credentials unless AWS_ENDPOINT_URL is set. A command given with --exec stands in for all of a
job's work, whatever its target; it finds the run object as JSON in CRONFENCE_RUN. Exit status
0 is success, and what it left running is killed; SIGTERM is the request to stop, SIGKILL
follows 5 s later.

Both have a DynamoDB here: AWS_ENDPOINT_URL_DYNAMODB leads to one in memory, with the guards and
the jobs' notes in the scheduler's table and with the other tables that the assembly declares,
empty at first; with an emulator of yours named in AWS_ENDPOINT_URL or in that variable, those
are the emulator's. It serves GetItem, PutItem, UpdateItem, DeleteItem, Query, Scan and
TransactWriteItems, without indexes. A command has your environment, but for that; where that
names no AWS credentials, such as an AWS_PROFILE, it gets worthless ones. Both go by this
machine's clock, so deadlines and budgets are right for them at --speed 1.

Faults make things go wrong on request, and every one that took effect is on record: a line as
it does, a count at the end. They strike the services around the functions, not the code of
these, and times are the local cloud's. A fault waits for its occasion: "kill cleanup" strikes
the run at work or else the next one, as it begins. It is written

  ` + fault.Syntax + `

where D is a duration such as 90s and "at D" is that long after the start. Without "times N" or
"for D" it strikes once; a frozen run and a wrong clock stay so until "for D" is over or the
fault is ended. Where the job or function is left out, all are meant.

` + faultHelp() + `
Functions are ` + strings.Join(fault.Functions, ", ") + `. Clocks that differ by more than
` + fault.Margin.String() + `, the skew margin, are beyond what Cronfence promises to stand; the line says so. The same
faults can be asked for over HTTP: GET /api/v1/faults lists kinds and faults, POST takes
{"kind":"kill","job":"cleanup"}, DELETE /api/v1/faults/ID ends one.

With --json the lines go to standard error and one document to standard output:
start, end (RFC 3339), speed, interrupted, deadLetters, faults, problems, usage (what AWS would bill) and for every one of jobs
scheduler, job, ticks, started, succeeded, failed, timedOut, aborted, leaseLost, skipped,
expired, missed, abandoned, running, maxConcurrent, longestRunSeconds, maxRatio, nextTick.`
}

func runDev(ctx context.Context, o devOptions, out, errOut io.Writer) error {
	log := io.Writer(printer{out, false}) // what the work of jobs writes colours nothing
	if o.json {
		log = errOut
	}
	config, err := o.config(log, errOut)
	if err != nil {
		return err
	}
	faults, err := parseFaults(o.faults)
	if err != nil {
		return err
	}
	cloud, err := localcloud.New(config)
	if err != nil {
		var unknown *localcloud.UnknownJobError
		if errors.As(err, &unknown) {
			return usagef("--exec: %w", unknown)
		}
		return err
	}
	if err := addFaults(cloud, faults); err != nil {
		_ = cloud.Close()
		return err
	}
	server, err := o.serve(ctx, cloud, log)
	if err != nil {
		_ = cloud.Close()
		return err
	}
	announce(log, o, cloud)
	if server != nil {
		server.announce(log)
	}
	report, err := cloud.Run(ctx)
	if server != nil {
		server.close(ctx, log)
	}
	if err != nil {
		return err
	}
	if o.json {
		err = writeJSON(out, report)
	} else {
		err = writeTable(out, report)
	}
	if err == nil && len(report.Problems) > 0 {
		return fmt.Errorf("the record is not as it must be: %s", strings.Join(report.Problems, "; "))
	}
	if err == nil && report.Interrupted && o.length > 0 {
		return fmt.Errorf("ended early, at %s: the time of --for %v, or what was in flight, was not over", report.End, o.length)
	}
	return err
}

// config checks the options and turns them into what the local cloud needs.
func (o devOptions) config(log, errOut io.Writer) (localcloud.Config, error) {
	c := localcloud.Config{
		Assembly: example.Assembly, Start: time.Now().UTC(), Speed: o.speed, For: o.length,
		Exec: map[string]string{}, Log: log, Out: errOut,
	}
	if !(o.speed > 0 && o.speed <= maxSpeed) { // also refuses NaN
		return c, usagef("--speed %v: must be more than 0 and at most %d", o.speed, maxSpeed)
	}
	if o.length < 0 || o.length == 0 && o.given("for") {
		return c, usagef("--for %v: must be positive", o.length)
	}
	if err := checkListen(o.listen); err != nil {
		return c, err
	}
	for _, e := range o.exec {
		job, command, ok := strings.Cut(e, "=")
		if !ok || job == "" || strings.TrimSpace(command) == "" {
			return c, usagef("--exec %q: must be JOB=COMMAND", e)
		}
		if c.Exec[job] != "" {
			return c, usagef("--exec %q: job %q has a command already", e, job)
		}
		c.Exec[job] = command
	}
	if o.assembly == "" && o.given("assembly") {
		return c, usagef("--assembly \"\": must be the directory of a synthesized app, such as cdk.out")
	}
	if o.assembly != "" {
		c.Assembly, c.Directory = os.DirFS(o.assembly), o.assembly
		if _, err := fs.Stat(c.Assembly, "manifest.json"); err != nil {
			return c, fmt.Errorf("--assembly %s: no manifest.json there; run `cdk synth` and name its output directory", o.assembly)
		}
	}
	return c, nil
}

func announce(log io.Writer, o devOptions, cloud *localcloud.Cloud) {
	what := "the example app"
	if o.assembly != "" {
		what = o.assembly
	}
	end := "Ctrl-C ends it"
	if o.length > 0 {
		end = fmt.Sprintf("for %v", o.length)
	}
	_, _ = fmt.Fprintf(log, "local cloud with %s, %v times as fast as real time; %s\n", what, o.speed, end)
	if o.speed > noisySpeed {
		_, _ = fmt.Fprintf(log, "note: at more than %d times real time a delay of this machine is seconds here: "+
			"runs may be late, time out or lose their lease that would not in AWS\n", noisySpeed)
	}
	for _, notice := range cloud.Notices() {
		_, _ = fmt.Fprintf(log, "note: %s\n", notice)
	}
}
