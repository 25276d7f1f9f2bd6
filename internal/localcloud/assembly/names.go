package assembly

import "strings"

func arn(service, rest string) string {
	return "arn:aws:" + service + ":" + Region + ":" + Account + ":" + rest
}

// kinds says how resources that have a local form are called and addressed: the
// property that names them, their ARN, and whether Ref gives the ARN.
var kinds = map[string]struct {
	nameProperty string
	service      string
	prefix       string
	refIsARN     bool
}{
	"AWS::Lambda::Function":            {"FunctionName", "lambda", "function:", false},
	"AWS::StepFunctions::StateMachine": {"StateMachineName", "states", "stateMachine:", true},
	"AWS::DynamoDB::Table":             {"TableName", "dynamodb", "table/", false},
	"AWS::DynamoDB::GlobalTable":       {"TableName", "dynamodb", "table/", false},
	"AWS::SQS::Queue":                  {"QueueName", "sqs", "", false},
	"AWS::SNS::Topic":                  {"TopicName", "sns", "", true},
	"AWS::Events::Rule":                {"Name", "events", "rule/", false},
	"AWS::Scheduler::ScheduleGroup":    {"Name", "scheduler", "schedule-group/", false},
	"AWS::Scheduler::Schedule":         {"Name", "scheduler", "schedule/", false},
	"AWS::IAM::Role":                   {"RoleName", "iam", "role/", false},
	"AWS::Logs::LogGroup":              {"LogGroupName", "logs", "log-group:", false},
}

// nameOf is the physical name: the given one, or as CloudFormation makes it, without
// the random part.
func (s *stack) nameOf(id string, r resource) (string, error) {
	if p := kinds[r.Type].nameProperty; p != "" && r.Properties[p] != nil {
		return s.text(r.Properties[p])
	}
	return s.name + "-" + id, nil
}

func (s *stack) arnOf(id string, r resource) (string, error) {
	name, err := s.nameOf(id, r)
	if err != nil {
		return "", err
	}
	k, known := kinds[r.Type]
	if !known {
		return arn("local", strings.ToLower(r.Type)+"/"+name), nil
	}
	if r.Type == "AWS::Scheduler::Schedule" {
		group, err := s.text(r.Properties["GroupName"])
		if err != nil {
			return "", err
		}
		if group == "" {
			group = "default"
		}
		name = group + "/" + name
	}
	return arn(k.service, k.prefix+name), nil
}

func (s *stack) refOf(id string, r resource) (any, error) {
	if kinds[r.Type].refIsARN {
		return s.arnOf(id, r)
	}
	return s.nameOf(id, r)
}
