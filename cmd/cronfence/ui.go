package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/ops/devapi"
	"github.com/cronfence/cronfence/internal/web"
)

// uiLooks is how often the page looks at a deployed scheduler while somebody sees it: every
// look is paid for.
const uiLooks = 10 * time.Second

// shown is the document of `cronfence ui --json`.
type shown struct {
	URL       string `json:"url"` // with the token
	Scheduler string `json:"scheduler"`
}

type uiOptions struct {
	operated
	listen string
	by     string
}

func newUICommand() *cobra.Command {
	var o uiOptions
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Show a deployed scheduler on a page",
		Long: `Serves a page that shows a deployed scheduler's jobs: their ticks, runs and skips over time,
who holds each guard with which fence and lease, run time against interval, and why a tick did
what it did. Its buttons run, pause, resume and release, with your credentials and on the
record. ` + "`cronfence dev`" + ` serves the same page over the local cloud at its own address.

It prints the address and goes on until Ctrl-C. It listens on a free port of 127.0.0.1 unless
--listen names another address, and answers requests for loopback addresses only. The buttons
need the token that is part of the printed address, and so does looking, since it is done with
your credentials.

While a browser shows it the page looks every 10 s, however many browsers those are: at all
guards and the histories of the up to 25 jobs in sight; nothing is read while none does.

With --json it writes one document: url (with the token), scheduler.` + deployedHelp,
		Example: `  cronfence ui
  cronfence ui --scheduler shop --listen 127.0.0.1:7172`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkListen(o.listen); err != nil {
				return err
			}
			work := func() error {
				op, err := o.deployed(cmd.Context(), cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				return o.show(cmd.Context(), op, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			if o.json {
				return documented(cmd, work)
			}
			return work()
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.scheduler, "scheduler", "", schedulerUsage)
	flags.StringVar(&o.listen, "listen", "127.0.0.1:0", "HOST:PORT to listen on, with port 0 for any free one")
	flags.BoolVar(&o.json, "json", false, "write JSON")
	addBy(cmd, &o.by)
	return cmd
}

// show serves the page until ctx ends.
func (o *uiOptions) show(ctx context.Context, op *ops.Direct, out, errOut io.Writer) error {
	listening, err := devapi.Listen(ctx, o.listen)
	if err != nil {
		return err
	}
	s := &pageServer{listening}
	defer s.close(ctx, errOut)
	operators := map[string]ops.Operator{op.Name: op}
	page := &web.Page{Operators: operators, Where: "scheduler " + op.Name, Now: time.Now, By: whoever(o.by), Every: uiLooks, Fresh: uiLooks / 2, MayLook: s.HasToken}
	s.Private()
	s.Serve(operators, nil, page.Handler())
	if o.json {
		if err := writeJSON(out, shown{URL: s.PageURL(), Scheduler: op.Name}); err != nil {
			return err
		}
	} else {
		s.announcePage(out)
	}
	<-ctx.Done()
	return nil
}
