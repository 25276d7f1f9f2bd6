package sentinel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/report"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Notices is where messages for people go.
type Notices interface {
	// Notify sends one. The subject is ASCII, one line of at most 100 characters.
	Notify(ctx context.Context, subject, text string) error
}

const (
	// weeklyRow is the row of the message, beside the resume point.
	weeklyRow = "weekly"
	// settled is how long after a week's end its message begins: by then its last runs have
	// ended, but for the long ones, and people are about to begin theirs.
	settled = 6 * time.Hour
	// weeklyShare is what a sweep spends on it at the most, beyond the job it is at; jobTime
	// bounds that one. A job ticks 20,160 times in two weeks at the most.
	weeklyShare = 10 * time.Second
	jobTime     = 8 * time.Second
	weeklyPage  = 20
	// maxTries is how often a job's history is read before the message goes on without it.
	maxTries = 5
	// maxLost and maxFailed bound what is said of messages that were never sent.
	maxLost, maxFailed = 4, 300
	// maxLines is how many jobs a message names, those first that need a look: SNS takes 256
	// KiB, DynamoDB 400.
	maxLines = 100
	// sendTime is how long a sender has that does not come back before another sends.
	sendTime = 5 * time.Minute
)

// letter is the weekly message as far as it is written. It is kept in the table, so that any
// number of jobs are gone through in as many sweeps as it takes, whichever of them dies, and
// repeated sweeps send nothing twice.
type letter struct {
	Week    string       `json:"week"` // the day of its end
	After   string       `json:"after,omitempty"`
	Written bool         `json:"written,omitempty"` // all jobs were gone through
	Tries   int          `json:"tries,omitempty"`   // of the job behind After
	Clean   int          `json:"clean,omitempty"`
	Look    int          `json:"look,omitempty"` // jobs that need one
	Lines   []letterLine `json:"lines,omitempty"`
	Sending guard.Millis `json:"sending,omitempty"` // until then a sender may be at it
	Sent    bool         `json:"sent,omitempty"`
	Failed  string       `json:"failed,omitempty"` // why the last try to send failed
	Lost    []string     `json:"lost,omitempty"`   // what became of messages that no try could send, the last ones

	token string // of the record it was read from; empty: there was none
}

type letterLine struct {
	Rank int    `json:"rank"`
	Text string `json:"text"`
}

// weekly goes on with the message of the last full week and sends it once it is written. A
// sender that dies between sending and saying so leaves it to be sent a second time: SNS has no
// way to tell, and twice is better than never.
func (h *Handler) weekly(ctx context.Context, e *engine.Engine, until time.Time) error {
	now := h.Now()
	week := report.LastFullWeek(now)
	name := week.To.Format(time.DateOnly)
	if h.Notices == nil || h.told == name || now.Before(week.To.Add(settled)) {
		return nil
	}
	l, err := h.readLetter(ctx)
	if err != nil {
		return err
	}
	if l.Week != name {
		l = letter{Week: name, Lost: l.lost(), token: l.token}
	}
	if !l.Sent && !l.Written {
		failed := h.write(ctx, e, &l, week, earliest(until, now.Add(weeklyShare)))
		if l.Written && len(l.Lines)+len(l.Lost) == 0 { // a scheduler without a history
			l.Sent = true
		}
		if ours, err := h.keepLetter(ctx, &l); err != nil || !ours {
			return errors.Join(failed, err)
		}
		if failed != nil {
			return failed
		}
	}
	if l.Written && !l.Sent {
		if err := h.send(ctx, &l, week); err != nil {
			return err
		}
	}
	if l.Sent {
		h.told = name
	}
	return nil
}

// write goes through the jobs behind the one that it ended with: at least one, so that a sweep
// that has no time to spare gets on too.
func (h *Handler) write(ctx context.Context, e *engine.Engine, l *letter, week report.Week, until time.Time) error {
	for {
		page, err := h.Store.Guards(ctx, l.After, weeklyPage)
		if err != nil {
			return fmt.Errorf("list jobs: %w", err)
		}
		for _, g := range page.Guards {
			if err := h.writeJob(ctx, e, l, g, week); err != nil {
				return err
			}
			if l.After, l.Tries = g.Job, 0; h.Now().After(until) {
				return nil
			}
		}
		if page.Next == "" {
			l.Written, l.After = true, ""
			return nil
		}
		l.After = page.Next
	}
}

func (h *Handler) writeJob(ctx context.Context, e *engine.Engine, l *letter, g guard.Guard, week report.Week) error {
	ctx, cancel := context.WithTimeout(ctx, jobTime)
	defer cancel()
	line, err := (&ops.Direct{Name: h.Scheduler, Engine: e}).ReportWeek(ctx, g, week)
	switch {
	case err != nil && l.Tries+1 < maxTries:
		l.Tries++
		return fmt.Errorf("job %s: %w", g.Job, err)
	case err != nil:
		l.Look++
		l.add(letterLine{1, fmt.Sprintf("%s: its history could not be read: %v", g.Job, err)})
	case line.Empty():
	default:
		if line.Clean {
			l.Clean++
		} else {
			l.Look++
		}
		l.add(letterLine{line.Rank(), line.Text})
	}
	return nil
}

// add keeps the lines that need a look most, in the order of the jobs where they do alike.
func (l *letter) add(line letterLine) {
	at, _ := slices.BinarySearchFunc(l.Lines, line, func(a, b letterLine) int {
		if a.Rank >= b.Rank {
			return -1
		}
		return 1
	})
	l.Lines = slices.Insert(l.Lines, at, line)
	l.Lines = l.Lines[:min(len(l.Lines), maxLines)]
}

// send claims the sending first: of two sweeps at a time only one sends.
func (h *Handler) send(ctx context.Context, l *letter, week report.Week) error {
	now := schema.MillisOf(h.Now())
	if now < l.Sending {
		return nil
	}
	l.Sending = now.Add(sendTime)
	if ours, err := h.keepLetter(ctx, l); err != nil || !ours {
		return err
	}
	if err := h.Notices.Notify(ctx, l.subject(h.Scheduler), l.text(h.Scheduler, week)); err != nil {
		l.Failed = cut(err.Error(), maxFailed)
		_, keepErr := h.keepLetter(ctx, l)
		return errors.Join(err, keepErr)
	}
	*l = letter{Week: l.Week, Sent: true, token: l.token}
	_, err := h.keepLetter(ctx, l)
	return err
}

// lost is what the next week's message says of messages that were never sent: nobody reads logs
// for what did not come.
func (l letter) lost() []string {
	if l.Week == "" || l.Sent {
		return nil
	}
	why := l.Failed
	switch {
	case why != "":
	case l.Written:
		why = "no try came to an end"
	default:
		why = "it was never written to its end"
	}
	all := append(l.Lost, fmt.Sprintf("The message of the week to %s could not be sent: %s", l.Week, why))
	return all[max(0, len(all)-maxLost):]
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

func (l letter) subject(scheduler string) string {
	return fmt.Sprintf("Cronfence %s, week to %s: %d of %d jobs need a look", scheduler, l.Week, l.Look, l.Look+l.Clean)
}

func (l letter) text(scheduler string, week report.Week) string {
	const form = "Monday 2006-01-02 15:04"
	var b strings.Builder
	fmt.Fprintf(&b, "Scheduler %s from %s to %s UTC.\n\n", scheduler, week.From.Format(form), week.To.Format(form))
	for _, line := range l.Lost {
		b.WriteString(line + "\n\n")
	}
	for _, line := range l.Lines {
		b.WriteString(line.Text + "\n\n")
	}
	if more := l.Look + l.Clean - len(l.Lines); more > 0 {
		fmt.Fprintf(&b, "Not shown, and no worse: %d more.\n\n", more)
	}
	fmt.Fprintf(&b, "The same again: cronfence report --week --scheduler %s\n", scheduler)
	return b.String()
}

func (h *Handler) readLetter(ctx context.Context) (letter, error) {
	var l letter
	row, err := h.Store.Row(ctx, ownJob, weeklyRow)
	if err != nil || row == nil {
		return l, err
	}
	if err := json.Unmarshal([]byte(row.Why), &l); err != nil { // of another version: begin anew
		l = letter{}
	}
	l.token = row.Token
	return l, nil
}

// keepLetter puts the message on record unless somebody else did meanwhile.
func (h *Handler) keepLetter(ctx context.Context, l *letter) (ours bool, err error) {
	b, err := json.Marshal(l)
	if err != nil {
		return false, fmt.Errorf("write the weekly message: %w", err)
	}
	token := h.NewToken()
	w := guard.Write{
		SK: schema.TickSK(weeklyRow), Absent: l.token == "",
		Patch: guard.Patch{Set: guard.Fields{{Name: "tick", Value: weeklyRow}, {Name: "token", Value: token}, {Name: "why", Value: string(b)}}},
	}
	if !w.Absent {
		w.If = []guard.Cond{{Field: "token", Op: guard.Is, Value: l.token}}
	}
	err = h.Store.Commit(ctx, guard.Commit{Job: ownJob, Token: token, Writes: []guard.Write{w}})
	refused := new(guard.Refused)
	switch {
	case errors.As(err, &refused) && !wrote(refused, token):
		return false, nil
	case err != nil && !errors.As(err, &refused):
		return false, fmt.Errorf("keep the weekly message: %w", err)
	}
	l.token = token
	return true, nil
}

// wrote tells whether what refused a commit is an earlier copy of it whose answer was lost.
func wrote(refused *guard.Refused, token string) bool {
	row := refused.Rows[weeklyRow]
	return row != nil && row.Token == token
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
