package awsops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// maxLogBytes bounds the text of one answer besides its lines.
const maxLogBytes = 16 << 20

// Logs implements ops.Surroundings: the lines that the functions of the run's machine wrote
// while it ran. A run holds the guard alone, so the time tells its lines from other runs'.
func (a *around) Logs(ctx context.Context, w ops.Work, l *ops.Logs) error {
	a.link(l, "execution", "states", "v2/executions/details/"+schema.ExecutionARN(w.MachineARN, w.Run))
	groups := w.Groups
	if len(groups) == 0 {
		var err error
		if groups, err = a.groupsOf(ctx, w, l); err != nil {
			return err
		}
	}
	size := 0
	for _, group := range groups {
		a.linkGroup(l, group, w)
		if err := a.read(ctx, group, w, l, &size); err != nil {
			return err
		}
	}
	slices.SortStableFunc(l.Lines, func(a, b ops.LogLine) int { return a.At.Compare(b.At) })
	return nil
}

// groupsOf finds the log groups of the functions that do a machine's work, and notes work
// that is another service's.
func (a *around) groupsOf(ctx context.Context, w ops.Work, l *ops.Logs) ([]string, error) {
	out, err := a.states.DescribeStateMachine(ctx, &sfn.DescribeStateMachineInput{StateMachineArn: &w.MachineARN})
	if err != nil {
		return nil, fmt.Errorf("describe state machine of %s: %w", w.Job, err)
	}
	work, err := workOf(aws.ToString(out.Definition))
	if err != nil {
		return nil, fmt.Errorf("state machine of %s: %w", w.Job, err)
	}
	for _, task := range work.others {
		l.Notes = append(l.Notes, fmt.Sprintf("task %s keeps its lines where its own service does: follow the link to the execution, or name its group with --log-group", task))
	}
	var groups []string
	for _, function := range work.functions {
		f, err := a.functions.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: &function})
		if err != nil {
			return nil, fmt.Errorf("find the log group of function %s: %w", function, err)
		}
		group := "/aws/lambda/" + aws.ToString(f.FunctionName)
		if c := f.LoggingConfig; c != nil && aws.ToString(c.LogGroup) != "" {
			group = aws.ToString(c.LogGroup)
		}
		if !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
	}
	return groups, nil
}

func (a *around) read(ctx context.Context, group string, w ops.Work, l *ops.Logs, size *int) error {
	pages := cloudwatchlogs.NewFilterLogEventsPaginator(a.logs, &cloudwatchlogs.FilterLogEventsInput{
		LogGroupName: &group, StartTime: aws.Int64(w.From.UnixMilli()), EndTime: aws.Int64(w.Until.UnixMilli()),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		var missing *types.ResourceNotFoundException
		switch {
		case errors.As(err, &missing):
			l.Notes = append(l.Notes, "log group "+group+" is not there: the function has not written yet, or its lines were deleted")
			return nil
		case err != nil:
			return fmt.Errorf("read log group %s: %w", group, err)
		}
		for _, e := range page.Events {
			text := strings.TrimRight(aws.ToString(e.Message), "\n")
			if *size += len(text); len(l.Lines) == ops.MaxLogLines || *size > maxLogBytes {
				l.Truncated = true
				return nil
			}
			l.Lines = append(l.Lines, ops.LogLine{At: time.UnixMilli(aws.ToInt64(e.Timestamp)).UTC(), Source: group, Text: text})
		}
	}
	return nil
}

// link adds a page of the console. AWS has other hosts for its partitions in China and for
// governments: an ARN says which.
func (a *around) link(l *ops.Logs, what, service, fragment string) {
	host := "console.aws.amazon.com"
	switch {
	case strings.HasPrefix(a.region, "cn-"):
		host = "console.amazonaws.cn"
	case strings.HasPrefix(a.region, "us-gov-"):
		host = "console.amazonaws-us-gov.com"
	}
	l.Links = append(l.Links, ops.Link{What: what, URL: fmt.Sprintf("https://%s/%s/home?region=%s#/%s", host, service, a.region, fragment)})
}

// linkGroup leads to a log group's events of the run's time. The console escapes what is in
// its fragments twice, with a $ for the %.
func (a *around) linkGroup(l *ops.Logs, group string, w ops.Work) {
	escape := func(s string) string { return strings.ReplaceAll(url.QueryEscape(url.QueryEscape(s)), "%", "$") }
	query := fmt.Sprintf("?start=%d&end=%d", w.From.UnixMilli(), w.Until.UnixMilli())
	a.link(l, "log group "+group, "cloudwatch", "")
	last := &l.Links[len(l.Links)-1]
	last.URL = strings.TrimSuffix(last.URL, "/") + "logsV2:log-groups/log-group/" + escape(group) + "/log-events" + strings.ReplaceAll(url.QueryEscape(query), "%", "$")
}

// work is what a state machine does but for what guards it.
type work struct {
	functions []string // ARNs or names
	others    []string // tasks of other services, by state and resource
}

// workOf reads a definition. All states of the constructs' own begin with "Cronfence ".
func workOf(definition string) (work, error) {
	var d statesOf
	if err := json.Unmarshal([]byte(definition), &d); err != nil {
		return work{}, fmt.Errorf("read definition: %w", err)
	}
	var w work
	w.add(d)
	slices.Sort(w.functions)
	w.functions = slices.Compact(w.functions)
	slices.Sort(w.others)
	return w, nil
}

type statesOf struct {
	States map[string]struct {
		Type, Resource string
		Parameters     map[string]any
		Arguments      any
		Branches       []statesOf
		Iterator       *statesOf
		ItemProcessor  *statesOf
	}
}

func (w *work) add(d statesOf) {
	for name, s := range d.States {
		for _, b := range s.Branches {
			w.add(b)
		}
		for _, inner := range []*statesOf{s.Iterator, s.ItemProcessor} {
			if inner != nil {
				w.add(*inner)
			}
		}
		if s.Type != "Task" || strings.HasPrefix(name, ownStates) {
			continue
		}
		parameters := s.Parameters
		if arguments, ok := s.Arguments.(map[string]any); ok {
			parameters = arguments
		}
		function, _ := parameters["FunctionName"].(string)
		switch {
		case strings.Contains(s.Resource, ":lambda:") && strings.Contains(s.Resource, ":function:"):
			w.functions = append(w.functions, s.Resource)
		case strings.Contains(s.Resource, ":states:::lambda:invoke") && function != "":
			w.functions = append(w.functions, function)
		default:
			w.others = append(w.others, fmt.Sprintf("%q (%s)", name, s.Resource))
		}
	}
}

const ownStates = "Cronfence "
