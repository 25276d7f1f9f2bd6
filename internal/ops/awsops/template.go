package awsops

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// stackTemplate is a deployed template with what its resources came to be called.
type stackTemplate struct {
	Resources map[string]stackResource

	id       string            // ARN of the stack
	physical map[string]string // by logical id
	exports  func(name string) (string, error)
}

type stackResource struct {
	Type       string
	Properties map[string]any
}

func (t *stackTemplate) name() string {
	if parts := strings.Split(t.id, "/"); len(parts) > 1 {
		return parts[1]
	}
	return t.id
}

// arnPart is a part of the stack's own ARN: 1 partition, 3 Region, 4 account.
func (t *stackTemplate) arnPart(i int) string {
	if parts := strings.Split(t.id, ":"); len(parts) > i {
		return parts[i]
	}
	return ""
}

// schedule resolves a schedule's properties.
func (t *stackTemplate) schedule(properties map[string]any) (liveSchedule, error) {
	resolved, err := t.resolve(properties)
	if err != nil {
		return liveSchedule{}, err
	}
	text, err := json.Marshal(resolved)
	if err != nil {
		return liveSchedule{}, err
	}
	p := struct {
		Name, State, ScheduleExpression, ScheduleExpressionTimezone, StartDate, EndDate string
		Target                                                                          struct {
			Arn, RoleArn, Input string
			DeadLetterConfig    struct{ Arn string }
			RetryPolicy         struct{ MaximumEventAgeInSeconds, MaximumRetryAttempts int64 }
		}
	}{State: "ENABLED"}
	p.Target.RetryPolicy.MaximumEventAgeInSeconds, p.Target.RetryPolicy.MaximumRetryAttempts = 86_400, 185 // EventBridge Scheduler's defaults
	if err := json.Unmarshal(text, &p); err != nil {
		return liveSchedule{}, err
	}
	return liveSchedule{
		Name: p.Name, State: p.State, Expression: p.ScheduleExpression, Timezone: p.ScheduleExpressionTimezone,
		Start: inUTC(p.StartDate), End: inUTC(p.EndDate),
		Target: p.Target.Arn, Role: p.Target.RoleArn, Input: p.Target.Input, DeadLetters: p.Target.DeadLetterConfig.Arn,
		MaxAgeSeconds: p.Target.RetryPolicy.MaximumEventAgeInSeconds, Retries: p.Target.RetryPolicy.MaximumRetryAttempts,
	}, nil
}

func inUTC(instant string) string {
	if t, err := time.Parse(time.RFC3339, instant); err == nil {
		return t.UTC().Format(time.RFC3339)
	}
	return instant
}

// resolve replaces the functions that the constructs' schedules use.
func (t *stackTemplate) resolve(v any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 1 {
			for name, arg := range v {
				if name == "Ref" || strings.HasPrefix(name, "Fn::") {
					return t.call(name, arg)
				}
			}
		}
		out := make(map[string]any, len(v))
		for name, member := range v {
			r, err := t.resolve(member)
			if err != nil {
				return nil, err
			}
			out[name] = r
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, member := range v {
			r, err := t.resolve(member)
			if err != nil {
				return nil, err
			}
			out[i] = r
		}
		return out, nil
	}
	return v, nil
}

func (t *stackTemplate) call(name string, arg any) (any, error) {
	list, _ := arg.([]any)
	switch {
	case name == "Ref":
		return t.ref(fmt.Sprint(arg))
	case name == "Fn::GetAtt" && len(list) == 2 && list[1] == "Arn":
		return t.arn(fmt.Sprint(list[0]))
	case name == "Fn::ImportValue":
		resolved, err := t.resolve(arg)
		if err != nil {
			return nil, err
		}
		return t.exports(fmt.Sprint(resolved))
	case name == "Fn::Join" && len(list) == 2:
		parts, err := t.resolve(list[1])
		if err != nil {
			return nil, err
		}
		var texts []string
		members, _ := parts.([]any)
		for _, part := range members {
			texts = append(texts, fmt.Sprint(part))
		}
		return strings.Join(texts, fmt.Sprint(list[0])), nil
	}
	return nil, fmt.Errorf("%s %v is not understood here", name, arg)
}

func (t *stackTemplate) ref(id string) (string, error) {
	switch id {
	case "AWS::Partition":
		return t.arnPart(1), nil
	case "AWS::Region":
		return t.arnPart(3), nil
	case "AWS::AccountId":
		return t.arnPart(4), nil
	}
	physical, there := t.physical[id]
	if !there {
		return "", fmt.Errorf("resource %s of the template is not in the stack", id)
	}
	return physical, nil
}

// arn is the ARN of a resource by what CloudFormation calls it: a name, a URL or the ARN.
func (t *stackTemplate) arn(id string) (string, error) {
	physical, err := t.ref(id)
	if err != nil || strings.HasPrefix(physical, "arn:") {
		return physical, err
	}
	partition, region, account := t.arnPart(1), t.arnPart(3), t.arnPart(4)
	name := physical[strings.LastIndex(physical, "/")+1:]
	switch kind := t.Resources[id].Type; kind {
	case "AWS::Lambda::Function":
		return "arn:" + partition + ":lambda:" + region + ":" + account + ":function:" + name, nil
	case "AWS::SQS::Queue":
		return "arn:" + partition + ":sqs:" + region + ":" + account + ":" + name, nil
	case "AWS::IAM::Role":
		path, _ := t.Resources[id].Properties["Path"].(string)
		return "arn:" + partition + ":iam::" + account + ":role" + "/" + strings.TrimPrefix(path, "/") + name, nil
	default:
		return "", fmt.Errorf("the ARN of resource %s, %s, is not known here", id, kind)
	}
}
