package assembly

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// goPackageKey is the metadata under which the constructs name a function's package.
const goPackageKey = "cronfence:go-package"

// collect adds to a what the stack's resources are to the local cloud.
func (s *stack) collect(a *Assembly) error {
	for _, id := range slices.Sorted(maps.Keys(s.template.Resources)) {
		r := s.template.Resources[id]
		var err error
		switch r.Type {
		case "AWS::Scheduler::Schedule":
			err = s.addSchedule(a, id, r)
		case "AWS::StepFunctions::StateMachine":
			err = s.addMachine(a, id, r)
		case "AWS::Lambda::Function":
			err = s.addFunction(a, id, r)
		case "AWS::Events::Rule":
			err = s.addRule(a, id, r)
		case "AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable":
			err = s.addTable(a, id, r)
		default:
			if !isQuiet(r.Type) {
				a.Notices = append(a.Notices, fmt.Sprintf("%s (%s) is not part of the local cloud", s.where(id, r), r.Type))
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.where(id, r), err)
		}
	}
	return nil
}

// where names a resource as its author does: by construct path where there is one.
func (s *stack) where(id string, r resource) string {
	if p, ok := r.Metadata["aws:cdk:path"].(string); ok {
		return p
	}
	return s.name + "/" + id
}

// properties resolves a resource's properties into v.
func (s *stack) properties(r resource, v any) error {
	resolved, err := s.resolve(r.Properties)
	if err != nil {
		return err
	}
	text, err := json.Marshal(resolved)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// EventBridge Scheduler's defaults.
const (
	scheduleRetries = 185
	scheduleMaxAge  = 24 * time.Hour
)

func or[T any](given *T, missing T) T {
	if given == nil {
		return missing
	}
	return *given
}

func seconds(given *int64, missing time.Duration) time.Duration {
	if given == nil {
		return missing
	}
	return time.Duration(*given) * time.Second
}

func (s *stack) addSchedule(a *Assembly, id string, r resource) error {
	var p struct {
		Name, GroupName                                string
		ScheduleExpression, ScheduleExpressionTimezone string
		StartDate, EndDate                             string
		State                                          string
		FlexibleTimeWindow                             struct {
			Mode                   string
			MaximumWindowInMinutes int64
		}
		Target struct {
			Arn, Input       string
			RetryPolicy      struct{ MaximumEventAgeInSeconds, MaximumRetryAttempts *int64 }
			DeadLetterConfig struct{ Arn string }
		}
	}
	if err := s.properties(r, &p); err != nil {
		return err
	}
	out := Schedule{
		ID: s.where(id, r), Group: p.GroupName, Expression: p.ScheduleExpression, Timezone: p.ScheduleExpressionTimezone,
		Disabled: p.State == "DISABLED", TargetARN: p.Target.Arn, Input: p.Target.Input,
		Retries: int(or(p.Target.RetryPolicy.MaximumRetryAttempts, scheduleRetries)),
		MaxAge:  seconds(p.Target.RetryPolicy.MaximumEventAgeInSeconds, scheduleMaxAge), DeadLetter: p.Target.DeadLetterConfig.Arn,
	}
	if p.FlexibleTimeWindow.Mode == "FLEXIBLE" {
		out.Window = time.Duration(p.FlexibleTimeWindow.MaximumWindowInMinutes) * time.Minute
	}
	var err error
	if out.Name, err = s.nameOf(id, r); err != nil {
		return err
	}
	if out.ARN, err = s.arnOf(id, r); err != nil {
		return err
	}
	if out.Start, err = instant("StartDate", p.StartDate); err != nil {
		return err
	}
	if out.End, err = instant("EndDate", p.EndDate); err != nil {
		return err
	}
	a.Schedules = append(a.Schedules, out)
	return nil
}

func instant(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("%s %q: must be an RFC 3339 instant", field, text)
	}
	return t, nil
}

func (s *stack) addMachine(a *Assembly, id string, r resource) error {
	var p struct {
		DefinitionString        string
		Definition              json.RawMessage
		DefinitionSubstitutions map[string]string
		DefinitionS3Location    json.RawMessage
		RoleArn                 string
		StateMachineType        string
	}
	if err := s.properties(r, &p); err != nil {
		return err
	}
	definition := p.DefinitionString
	if definition == "" {
		definition = string(p.Definition)
	}
	switch {
	case p.StateMachineType != "" && p.StateMachineType != "STANDARD":
		a.notice("%s: state machine type %q does not run; the local cloud runs STANDARD ones", s.where(id, r), p.StateMachineType)
		return nil
	case definition == "":
		a.notice("%s: does not run; its definition is not in the template (DefinitionString or Definition), and the local cloud fetches none", s.where(id, r))
		return nil
	}
	out := Machine{ID: s.where(id, r), RoleARN: p.RoleArn, Definition: substitute(definition, p.DefinitionSubstitutions)}
	var err error
	if out.Name, err = s.nameOf(id, r); err != nil {
		return err
	}
	out.ARN, err = s.arnOf(id, r)
	a.Machines = append(a.Machines, out)
	return err
}

func substitute(text string, values map[string]string) string {
	return subVariable.ReplaceAllStringFunc(text, func(match string) string {
		if v, ok := values[match[2:len(match)-1]]; ok {
			return v
		}
		return match
	})
}

func (s *stack) addRule(a *Assembly, id string, r resource) error {
	var p struct {
		EventPattern       any
		ScheduleExpression string
		State              string
		Targets            []struct{ Arn string }
	}
	if err := s.properties(r, &p); err != nil {
		return err
	}
	if p.ScheduleExpression != "" {
		a.Notices = append(a.Notices, s.where(id, r)+": rules with a schedule do not run in the local cloud; use EventBridge Scheduler")
		return nil
	}
	pattern, err := newPattern(p.EventPattern)
	if err != nil {
		return err
	}
	out := Rule{ID: s.where(id, r), Pattern: pattern, Disabled: p.State == "DISABLED"}
	for _, t := range p.Targets {
		out.TargetARNs = append(out.TargetARNs, t.Arn)
	}
	out.Name, err = s.nameOf(id, r)
	a.Rules = append(a.Rules, out)
	return err
}
