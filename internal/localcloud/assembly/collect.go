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

func (s *stack) addSchedule(a *Assembly, id string, r resource) error {
	var p struct {
		Name, GroupName                                string
		ScheduleExpression, ScheduleExpressionTimezone string
		StartDate, EndDate                             string
		State                                          string
		FlexibleTimeWindow                             struct{ Mode string }
		Target                                         struct{ Arn, Input string }
	}
	if err := s.properties(r, &p); err != nil {
		return err
	}
	if mode := p.FlexibleTimeWindow.Mode; mode != "" && mode != "OFF" {
		a.Notices = append(a.Notices, s.where(id, r)+": each tick comes at its planned instant here, not anywhere in its time window")
	}
	out := Schedule{
		ID: s.where(id, r), Group: p.GroupName, Expression: p.ScheduleExpression, Timezone: p.ScheduleExpressionTimezone,
		Disabled: p.State == "DISABLED", TargetARN: p.Target.Arn, Input: p.Target.Input,
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
	if p.StateMachineType != "" && p.StateMachineType != "STANDARD" {
		return fmt.Errorf("state machine type %q: the local cloud runs STANDARD ones", p.StateMachineType)
	}
	definition := p.DefinitionString
	if definition == "" {
		definition = string(p.Definition)
	}
	if definition == "" {
		return fmt.Errorf("the definition is not in the template (DefinitionString or Definition); the local cloud cannot fetch it")
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

// Lambda's defaults.
const (
	defaultTimeout = 3 * time.Second
	defaultRetries = 2
)

func (s *stack) addFunction(a *Assembly, id string, r resource) error {
	var p struct {
		Timeout     *int64
		Environment struct{ Variables map[string]string }
	}
	if err := s.properties(resource{Properties: only(r.Properties, "Timeout", "Environment")}, &p); err != nil {
		return err
	}
	out := Function{ID: s.where(id, r), Timeout: defaultTimeout, Environment: p.Environment.Variables, Retries: defaultRetries}
	if p.Timeout != nil {
		out.Timeout = time.Duration(*p.Timeout) * time.Second
	}
	out.GoPackage, _ = r.Metadata[goPackageKey].(string)
	var err error
	if out.Name, err = s.nameOf(id, r); err != nil {
		return err
	}
	out.ARN, err = s.arnOf(id, r)
	a.Functions = append(a.Functions, out)
	return err
}

func only(properties map[string]any, names ...string) map[string]any {
	out := map[string]any{}
	for _, name := range names {
		if v, ok := properties[name]; ok {
			out[name] = v
		}
	}
	return out
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

// collectRetries reads how often asynchronous invocations are repeated.
func (s *stack) collectRetries(a *Assembly) error {
	for id, r := range s.template.Resources {
		if r.Type != "AWS::Lambda::EventInvokeConfig" {
			continue
		}
		var p struct {
			FunctionName         string
			MaximumRetryAttempts *int
		}
		if err := s.properties(resource{Properties: only(r.Properties, "FunctionName", "MaximumRetryAttempts")}, &p); err != nil {
			return fmt.Errorf("%s: %w", s.where(id, r), err)
		}
		for i := range a.Functions {
			f := &a.Functions[i]
			if (f.Name == p.FunctionName || f.ARN == p.FunctionName) && p.MaximumRetryAttempts != nil {
				f.Retries = *p.MaximumRetryAttempts
			}
		}
	}
	return nil
}
