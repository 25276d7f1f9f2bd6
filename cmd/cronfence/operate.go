package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/ops/awsops"
	"github.com/cronfence/cronfence/internal/ops/devapi"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// operated is what the verbs share that operate a scheduler: where it is, and how to answer.
type operated struct {
	scheduler, dev string
	json, dryRun   bool
	lines          bool // --json writes JSON Lines
}

// whereHelp ends the help of every such verb.
const whereHelp = deployedHelp + " With --dev it is that of a running `cronfence dev`."

// deployedHelp says which deployed scheduler is meant.
const deployedHelp = `

The scheduler is that of --scheduler, or the only one in the account and Region: schedulers
are found by their groups of schedules, whose tag cronfence:table names the table. That needs
scheduler:ListScheduleGroups and scheduler:ListTagsForResource; AWS_REGION, AWS_PROFILE and
AWS_ENDPOINT_URL work as everywhere.`

const schedulerUsage = "`NAME` of the scheduler (default: the only one in the account and Region)"

// command makes a verb that takes arguments named as given, the first a job, and operates a
// scheduler. What is wrong with its flags belongs into PreRunE: it is said before the
// scheduler is looked for.
func (o *operated) command(use, short, long, example string, do func(cmd *cobra.Command, op ops.Operator, args []string) error) *cobra.Command {
	names := argumentsOf(use)
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long + whereHelp, Example: example,
		Args:              func(cmd *cobra.Command, args []string) error { return checkArgs(cmd, names, args) },
		ValidArgsFunction: o.completeJobs(names),
		RunE: func(cmd *cobra.Command, args []string) error {
			work := func() error {
				op, err := o.open(cmd.Context(), cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				return hint(cmd, do(cmd, op, args))
			}
			if o.json && !o.lines {
				return documented(cmd, work)
			}
			return work()
		},
	}
	cmd.Flags().StringVar(&o.scheduler, "scheduler", "", schedulerUsage)
	cmd.Flags().StringVar(&o.dev, "dev", "", "`URL` of a running cronfence dev, such as http://127.0.0.1:7171")
	cmd.Flags().BoolVar(&o.json, "json", false, "write JSON")
	return cmd
}

// argument is one that a verb takes.
type argument struct {
	name               string
	optional, repeated bool
}

// argumentsOf reads them from a verb's use: "logs JOB [TICK]", "pause JOB...".
func argumentsOf(use string) []argument {
	var all []argument
	for _, word := range strings.Fields(use)[1:] {
		a := argument{name: strings.Trim(word, "[].")}
		a.optional, a.repeated = strings.HasPrefix(word, "["), strings.HasSuffix(word, "...")
		all = append(all, a)
	}
	return all
}

// checkArgs refuses arguments other than those named, and names that no job can have.
func checkArgs(cmd *cobra.Command, takes []argument, args []string) error {
	jobs := args[:min(1, len(args))]
	if n := len(takes); n > 0 && takes[n-1].repeated {
		jobs = args
		if flag := cmd.Flags().Lookup("all"); flag != nil && flag.Changed {
			if len(args) > 0 {
				return usagef("--all and job %q: must be one or the other", args[0])
			}
			return nil
		}
	} else if len(args) > n {
		return usagef("unexpected argument %q; see `%s --help`", args[n], cmd.CommandPath())
	}
	if n := len(args); n < len(takes) && !takes[n].optional {
		return usagef("%s is missing; see `%s --help`", takes[n].name, cmd.CommandPath())
	}
	for _, job := range jobs {
		if err := schema.CheckJob(job); err != nil {
			return usagef("%w", err)
		}
	}
	return nil
}

// addDryRun adds the flag of every verb that changes something.
func (o *operated) addDryRun(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "say what it would do, and change nothing")
}

// previewed is the document of a dry run.
type previewed struct {
	DryRun bool `json:"dryRun"` // true
	ops.Preview
}

// preview writes what an act would do.
func (o *operated) preview(cmd *cobra.Command, op ops.Operator, act ops.Act) error {
	p, err := op.Preview(cmd.Context(), act)
	if err != nil {
		return err
	}
	if o.json {
		return writeJSON(cmd.OutOrStdout(), previewed{true, p})
	}
	return say(cmd, "dry run, nothing is changed: "+strings.Join(p.Would, "; "))
}

// open finds the scheduler.
func (o *operated) open(ctx context.Context, errOut io.Writer) (ops.Operator, error) {
	if o.dev == "" {
		return o.deployed(ctx, errOut)
	}
	if err := o.checkScheduler(); err != nil {
		return nil, err
	}
	client, err := devapi.Dial(ctx, o.dev, o.scheduler)
	var wrong *devapi.URLError
	if errors.As(err, &wrong) {
		return nil, usagef("--dev: %w", err)
	}
	return client, err
}

// deployed finds the scheduler in AWS.
func (o *operated) deployed(ctx context.Context, errOut io.Writer) (*ops.Direct, error) {
	if err := o.checkScheduler(); err != nil {
		return nil, err
	}
	return awsops.Open(ctx, o.scheduler, warnings{errOut})
}

func (o *operated) checkScheduler() error {
	if o.scheduler == "" {
		return nil
	}
	if err := schema.CheckScheduler(o.scheduler); err != nil {
		return usagef("--scheduler: %w", err)
	}
	return nil
}

// warnings tells the person at the command line what the functions would log.
type warnings struct{ out io.Writer }

// Ended implements engine.Observer; the verb shows what came of it.
func (w warnings) Ended(guard.Row) {}

// Lost implements engine.Observer.
func (w warnings) Lost(guard.Row) {}

// Missed implements engine.Observer.
func (w warnings) Missed(guard.Gap) {}

// Given implements engine.Observer.
func (w warnings) Given(guard.Row) {}

// Going implements engine.Observer.
func (w warnings) Going(guard.Row) {}

// Warn implements engine.Observer.
func (w warnings) Warn(job, run, what string, err error) {
	text := fmt.Sprintf("warning: job %s, run %s: %s", job, run, what)
	if err != nil {
		text += ": " + err.Error()
	}
	_, _ = fmt.Fprintln(w.out, ops.Printable(text))
}

const reasonUsage = "why, for the record: one line, at most 160 characters"

// asUsage says of a request what is wrong with the flag of that name.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return usagef("--%w", err)
}

// addBy adds the flag for who acts.
func addBy(cmd *cobra.Command, by *string) {
	cmd.Flags().StringVar(by, "by", "", "who acts, for the record (default: USER@HOST)")
}

// whoever is who acts: the name given, or the user of this machine.
func whoever(by string) string {
	if by != "" {
		return by
	}
	name := cmp.Or(os.Getenv("USER"), os.Getenv("LOGNAME"), os.Getenv("USERNAME"))
	if name == "" {
		name = "unknown"
		if u, err := user.Current(); err == nil {
			name = u.Username
		}
	}
	host, err := os.Hostname()
	if err != nil {
		return name
	}
	return name + "@" + host
}
