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
	json           bool
}

// whereHelp ends the help of every such verb.
const whereHelp = `

The scheduler is that of --scheduler, or the only one in the account and Region: schedulers
are found by their groups of schedules, whose tag cronfence:table names the table. That needs
scheduler:ListScheduleGroups and scheduler:ListTagsForResource; AWS_REGION, AWS_PROFILE and
AWS_ENDPOINT_URL work as everywhere. With --dev it is that of a running ` + "`cronfence dev`" + `.`

// command makes a verb that takes arguments named as given, the first a job, and operates a
// scheduler. What is wrong with its flags belongs into PreRunE: it is said before the
// scheduler is looked for.
func (o *operated) command(use, short, long, example string, do func(cmd *cobra.Command, op ops.Operator, args []string) error) *cobra.Command {
	names := strings.Fields(use)[1:]
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long + whereHelp, Example: example,
		Args: func(cmd *cobra.Command, args []string) error { return checkArgs(cmd, names, args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			op, err := o.open(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return do(cmd, op, args)
		},
	}
	cmd.Flags().StringVar(&o.scheduler, "scheduler", "", "name of the scheduler (default: the only one in the account and Region)")
	cmd.Flags().StringVar(&o.dev, "dev", "", "URL of a running `cronfence dev`, such as http://127.0.0.1:7171")
	cmd.Flags().BoolVar(&o.json, "json", false, "write JSON")
	return cmd
}

// checkArgs refuses arguments other than those named, and names that no job can have.
func checkArgs(cmd *cobra.Command, names, args []string) error {
	switch {
	case len(args) < len(names):
		return usagef("%s is missing; see `%s --help`", names[len(args)], cmd.CommandPath())
	case len(args) > len(names):
		return usagef("unexpected argument %q; see `%s --help`", args[len(names)], cmd.CommandPath())
	case len(args) > 0 && schema.CheckJob(args[0]) != nil:
		return usagef("%w", schema.CheckJob(args[0]))
	}
	return nil
}

// open finds the scheduler.
func (o *operated) open(ctx context.Context, errOut io.Writer) (ops.Operator, error) {
	if o.scheduler != "" {
		if err := schema.CheckScheduler(o.scheduler); err != nil {
			return nil, usagef("--scheduler: %w", err)
		}
	}
	if o.dev == "" {
		return awsops.Open(ctx, o.scheduler, warnings{errOut})
	}
	client, err := devapi.Dial(ctx, o.dev, o.scheduler)
	var wrong *devapi.URLError
	if errors.As(err, &wrong) {
		return nil, usagef("--dev: %w", err)
	}
	return client, err
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
	_, _ = fmt.Fprintln(w.out, text)
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
