package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud"
	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/ops/devapi"
	"github.com/cronfence/cronfence/internal/web"
)

// closeTimeout is how long requests in flight have at the end of a local cloud.
const closeTimeout = 5 * time.Second

func checkListen(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return usagef("--listen %q: must be HOST:PORT, such as 127.0.0.1:7171, with port 0 for any free one", address)
	}
	return nil
}

// devLooks is how often the page looks at a local cloud: a person sees it move.
const devLooks = time.Second

// pageServer shows the page, with the HTTP interface beside it.
type pageServer struct{ *devapi.Server }

// serve listens, and answers over the local cloud. It returns nil where nobody asked for that
// and nobody need reach the local cloud.
func (o devOptions) serve(ctx context.Context, cloud *localcloud.Cloud, log io.Writer) (*pageServer, error) {
	server, err := devapi.Listen(ctx, o.listen)
	if err != nil && o.length > 0 && !o.given("listen") {
		_, _ = fmt.Fprintf(log, "note: %v\n", err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &pageServer{server}
	operators, err := operatorsOf(ctx, cloud)
	if err == nil {
		err = s.LeaveToken()
	}
	if err != nil {
		s.close(ctx, log)
		return nil, err
	}
	page := &web.Page{
		Operators: operators, Where: fmt.Sprintf("local cloud, %v times as fast as real time", o.speed), Now: cloud.Now, By: whoever(""), Every: devLooks, Faults: cloud.Faults(), Lines: true,
	}
	if o.speed == 1 {
		page.Where = "local cloud, in real time"
	}
	s.Serve(operators, cloud.Faults(), page.Handler())
	return s, nil
}

func (s *pageServer) announce(log io.Writer) {
	_, _ = fmt.Fprintf(log, "operate it with --dev, such as: cronfence jobs --dev %s\n", s.URL())
	s.announcePage(log)
}

func (s *pageServer) announcePage(log io.Writer) {
	_, _ = fmt.Fprintf(log, "watch it at %s\n", s.PageURL())
	if !s.Loopback() {
		_, _ = fmt.Fprintln(log, "note: other machines can reach it and read what it shows")
	}
}

func (s *pageServer) close(ctx context.Context, log io.Writer) {
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if err := s.Close(closing); err != nil {
		_, _ = fmt.Fprintf(log, "note: close the listener: %v\n", err)
	}
}

// operatorsOf makes the operators of the local cloud's schedulers. Their jobs are made known at
// once, and not with their first tick, so that they can be run and paused from the start.
func operatorsOf(ctx context.Context, cloud *localcloud.Cloud) (map[string]ops.Operator, error) {
	schedulers, err := cloud.Schedulers()
	if err != nil {
		return nil, err
	}
	operators := map[string]ops.Operator{}
	for _, s := range schedulers {
		operators[s.Name] = &ops.Direct{Name: s.Name, Engine: s.Engine, Around: devAround{cloud, s.Specs}, Notes: s.Notes}
		for _, spec := range s.Specs {
			if err := s.Engine.Introduce(ctx, spec); err != nil {
				return nil, fmt.Errorf("introduce job %s: %w", spec.Job, err)
			}
		}
	}
	return operators, nil
}
