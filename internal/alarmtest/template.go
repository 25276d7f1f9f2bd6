package alarmtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Template is a synthesized CloudFormation template.
type Template struct {
	Resources map[string]struct {
		Type       string
		Properties map[string]any
	}
}

// Load reads a template.
func Load(text []byte) (*Template, error) {
	t := &Template{}
	if err := json.Unmarshal(text, t); err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	return t, nil
}

// Alarm is one of a template's alarms.
type Alarm struct {
	Name      string
	Text      string
	Operator  string
	Threshold float64
	Periods   int // N: evaluation periods
	ToAlarm   int // M: data points to alarm
	Missing   string
	Period    time.Duration
	// What it looks at: one metric; or a difference of two, the second 0 where it is missing; or
	// a query that makes a series of each job.
	Metric, Minus *Metric
	Query         *Query
}

// Metric is one metric with its statistic. Its dimensions are all that a point has, each with its
// value or, in a query, with any: "".
type Metric struct {
	Namespace, Name, Statistic string
	Dimensions                 map[string]string
}

// Query is a Metrics Insights query: a series by the value of a dimension.
type Query struct {
	Metric
	GroupBy string
}

// rawAlarm is an alarm as CloudFormation has it.
type rawAlarm struct {
	AlarmName, AlarmDescription, ComparisonOperator, TreatMissingData string
	EvaluationPeriods, DatapointsToAlarm                              int
	Threshold                                                         float64
	Period                                                            int
	Metrics                                                           []struct {
		ID         string `json:"Id"`
		Expression string
		Period     int
		ReturnData bool
		MetricStat *struct {
			Metric rawMetric
			Period int
			Stat   string
		}
	}
	Statistic string
	rawMetric
}

type rawMetric struct {
	Namespace, MetricName string
	Dimensions            []struct{ Name, Value string }
}

// Alarms are all alarms of the template, by name.
func (t *Template) Alarms() ([]Alarm, error) {
	var all []Alarm
	for _, id := range slices.Sorted(maps.Keys(t.Resources)) {
		r := t.Resources[id]
		if r.Type != "AWS::CloudWatch::Alarm" {
			continue
		}
		a, err := alarmOf(r.Properties)
		if err != nil {
			return nil, fmt.Errorf("alarm %s: %w", id, err)
		}
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b Alarm) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func alarmOf(properties map[string]any) (Alarm, error) {
	var raw rawAlarm
	b, err := json.Marshal(flat(properties))
	if err == nil {
		err = json.Unmarshal(b, &raw)
	}
	if err != nil {
		return Alarm{}, fmt.Errorf("read: %w", err)
	}
	a := Alarm{
		Name: raw.AlarmName, Text: raw.AlarmDescription, Operator: raw.ComparisonOperator, Threshold: raw.Threshold,
		Periods: raw.EvaluationPeriods, ToAlarm: raw.DatapointsToAlarm, Missing: raw.TreatMissingData,
		Period: time.Duration(raw.Period) * time.Second,
	}
	if a.ToAlarm == 0 {
		a.ToAlarm = a.Periods
	}
	if len(raw.Metrics) == 0 {
		m := raw.metric(raw.Statistic)
		a.Metric = &m
		return a, nil
	}
	return a, raw.expression(&a)
}

func (m rawMetric) metric(statistic string) Metric {
	metric := Metric{Namespace: m.Namespace, Name: m.MetricName, Statistic: statistic, Dimensions: map[string]string{}}
	for _, d := range m.Dimensions {
		metric.Dimensions[d.Name] = d.Value
	}
	return metric
}

var (
	difference = regexp.MustCompile(`^(\w+) - FILL\((\w+), 0\)$`)
	insights   = regexp.MustCompile(`^SELECT (SUM|MAX)\((\w+)\) FROM SCHEMA\((\w+), "(\w+)", "(\w+)"\) WHERE "(\w+)" = '([^']+)' GROUP BY "(\w+)"$`)
)

// expression reads the two kinds of expression that the constructs make.
func (raw rawAlarm) expression(a *Alarm) error {
	metrics := map[string]Metric{}
	for _, m := range raw.Metrics {
		if m.MetricStat != nil {
			metrics[m.ID] = m.MetricStat.Metric.metric(m.MetricStat.Stat)
			a.Period = time.Duration(m.MetricStat.Period) * time.Second
		}
	}
	for _, m := range raw.Metrics {
		if !m.ReturnData {
			continue
		}
		if d := difference.FindStringSubmatch(m.Expression); d != nil {
			of, minus := metrics[d[1]], metrics[d[2]]
			a.Metric, a.Minus = &of, &minus
			return nil
		}
		if q := insights.FindStringSubmatch(m.Expression); q != nil {
			statistic := map[string]string{"SUM": "Sum", "MAX": "Maximum"}[q[1]]
			all := map[string]string{q[4]: "", q[5]: "", q[6]: q[7]}
			a.Query = &Query{Metric{q[3], q[2], statistic, all}, q[8]}
			a.Period = time.Duration(m.Period) * time.Second
			return nil
		}
		return fmt.Errorf("expression %q: must be a difference or a query", m.Expression)
	}
	return fmt.Errorf("no expression returns data")
}

// Spec is the spec of a job in its schedule's input, with a machine's ARN that is well formed.
func (t *Template) Spec(job string) (schema.Spec, error) {
	for _, r := range t.Resources {
		input, ok := flat(r.Properties["Target"]).(map[string]any)
		if r.Type != "AWS::Scheduler::Schedule" || !ok {
			continue
		}
		var ev schema.TickEvent
		text, _ := input["Input"].(string)
		if json.Unmarshal([]byte(text), &ev) == nil && ev.Job == job {
			ev.Spec.Machine = "arn:aws:states:us-east-1:000000000000:stateMachine:" + schema.MachineName(ev.Spec.Scheduler, job)
			return ev.Spec, nil
		}
	}
	return schema.Spec{}, fmt.Errorf("no schedule of job %q", job)
}

// flat resolves what the CDK writes to text: references are the logical ids.
func flat(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = flat(e)
		}
		return out
	case map[string]any:
		if ref, ok := v["Ref"]; ok {
			return ref
		}
		if att, ok := v["Fn::GetAtt"].([]any); ok {
			return fmt.Sprint(att...)
		}
		if join, ok := v["Fn::Join"].([]any); ok {
			var parts []string
			for _, part := range join[1].([]any) {
				parts = append(parts, fmt.Sprint(flat(part)))
			}
			return strings.Join(parts, join[0].(string))
		}
		out := map[string]any{}
		for name, e := range v {
			out[name] = flat(e)
		}
		return out
	}
	return v
}
