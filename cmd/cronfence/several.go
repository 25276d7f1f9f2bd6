package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/guard"
)

// jobsAct is an act on one job, several or all.
type jobsAct struct {
	all, pausedOnly bool
	act             func(job string) ops.Act
	do              func(a ops.Act) (ops.Status, error)
	text            func(s ops.Status) string
}

// acted is what became of one of several jobs.
type acted struct {
	Job     string      `json:"job"`
	Done    bool        `json:"done"`
	Refused bool        `json:"refused"`
	Message string      `json:"message"`
	Status  *ops.Status `json:"status,omitempty"` // afterwards

	err error
}

// actedAll is the document of an act on several jobs.
type actedAll struct {
	DryRun bool    `json:"dryRun"`
	Jobs   []acted `json:"jobs"`
}

// onJobs does an act on the jobs named, each for itself: what one refuses the others still get.
func (o *operated) onJobs(cmd *cobra.Command, op ops.Operator, jobs []string, a jobsAct) error {
	if len(jobs) == 1 {
		return o.onJob(cmd, op, jobs[0], a)
	}
	if a.all {
		for j, err := range op.Jobs(cmd.Context()) {
			if err != nil {
				return err
			}
			if !a.pausedOnly || j.Paused != nil {
				jobs = append(jobs, j.Job)
			}
		}
	}
	doc := actedAll{DryRun: o.dryRun, Jobs: []acted{}}
	for _, job := range jobs {
		one := o.actOn(cmd, op, a, job)
		doc.Jobs = append(doc.Jobs, one)
		if !o.json && one.err == nil {
			if err := say(cmd, one.Message); err != nil {
				return err
			}
		}
	}
	if o.json {
		if err := writeJSON(cmd.OutOrStdout(), doc); err != nil {
			return err
		}
	}
	if len(jobs) == 0 && !o.json {
		return say(cmd, "no job to do it to")
	}
	return doc.err()
}

func (o *operated) onJob(cmd *cobra.Command, op ops.Operator, job string, a jobsAct) error {
	if o.dryRun {
		return o.preview(cmd, op, a.act(job))
	}
	one := o.actOn(cmd, op, a, job)
	switch {
	case one.err != nil:
		return one.err
	case o.json:
		return writeJSON(cmd.OutOrStdout(), one.Status)
	}
	return say(cmd, one.Message)
}

func (o *operated) actOn(cmd *cobra.Command, op ops.Operator, a jobsAct, job string) acted {
	one := acted{Job: job}
	if o.dryRun {
		p, err := op.Preview(cmd.Context(), a.act(job))
		if one.err = err; err == nil {
			one.Message = "dry run, nothing is changed: " + p.Would[0]
			return one
		}
	} else {
		s, err := a.do(a.act(job))
		if one.err = err; err == nil {
			one.Done, one.Status, one.Message = true, &s, a.text(s)
			return one
		}
	}
	one.Message, one.Refused = one.err.Error(), failureOf(one.err).Refused
	return one
}

// err is the one that the command ends with: a failure before a refusal, and all in one line.
func (d actedAll) err() error {
	var failed, refused []error
	for _, one := range d.Jobs {
		switch {
		case one.err == nil:
		case one.Refused:
			refused = append(refused, one.err)
		default:
			failed = append(failed, one.err)
		}
	}
	bad := append(failed, refused...)
	if len(bad) == 0 {
		return nil
	}
	text := ""
	for i, err := range bad {
		if i > 0 {
			text += "; "
		}
		text += err.Error()
	}
	if len(bad) < len(d.Jobs) {
		text += fmt.Sprintf("; the other %d jobs are done", len(d.Jobs)-len(bad))
	}
	if len(failed) == 0 {
		return &guard.Refusal{Reason: text}
	}
	return errors.New(text)
}
