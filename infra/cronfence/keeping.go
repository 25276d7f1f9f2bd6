package cronfence

import (
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Levels of the functions' logs.
const (
	LogInfo  = schema.LogInfo
	LogError = schema.LogError
)

const maxRetention = 3650 * day

// checkKeeping refuses what the functions could not be told of records and logs.
func (p *SchedulerProps) checkKeeping(bad *problems) {
	if r := p.Retention; r < 0 || r%day != 0 || r > maxRetention {
		bad.addf("retention %v: must be whole days, 24h0m0s to %v, or 0 for %v", r, maxRetention, schema.Retention)
	}
	switch p.LogLevel {
	case "", LogInfo, LogError:
	default:
		bad.addf("log level %q: must be %q or %q", p.LogLevel, LogInfo, LogError)
	}
}

// environment is what the functions are told; what is as they assume is left out.
func (s *Scheduler) environment(p *SchedulerProps) map[string]string {
	env := map[string]string{schema.EnvScheduler: s.name, schema.EnvTable: *s.table.TableName()}
	if p.Retention != 0 {
		env[schema.EnvRetention] = strconv.Itoa(int(p.Retention / day))
	}
	if p.LogLevel != "" {
		env[schema.EnvLogLevel] = p.LogLevel
	}
	return env
}

func tableEncryption(key awskms.IKey) awsdynamodb.TableEncryption {
	if key == nil {
		return awsdynamodb.TableEncryption_DEFAULT
	}
	return awsdynamodb.TableEncryption_CUSTOMER_MANAGED
}

// What a service or a function does with the key. The CDK's own grants would say ReEncrypt*
// and GenerateDataKey*.
var (
	keyToRead  = []string{"kms:Decrypt", "kms:DescribeKey"}
	keyToWrite = append([]string{"kms:Encrypt", "kms:GenerateDataKey"}, keyToRead...)
)

// openKey lets the services use the key that act for nobody's role: the rule's dead letters,
// the alarms' topics, the logs of this stack. The CDK passes over it for an imported key.
func (s *Scheduler) openKey() {
	if s.key == nil {
		return
	}
	stack := awscdk.Stack_Of(s)
	own := map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": *stack.Account()}}
	for _, service := range []string{"events.amazonaws.com", "cloudwatch.amazonaws.com"} {
		s.openKeyTo(service, own, "kms:Decrypt", "kms:GenerateDataKey")
	}
	logs := *stack.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("logs"), Resource: jsii.String("log-group"), ResourceName: jsii.String("*"),
		ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME,
	})
	s.openKeyTo("logs."+*stack.Region()+".amazonaws.com", map[string]any{
		"ArnLike": map[string]any{"kms:EncryptionContext:aws:logs:arn": logs},
	}, keyToWrite...)
}

func (s *Scheduler) openKeyTo(service string, conditions map[string]any, actions ...string) {
	s.key.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Principals: &[]awsiam.IPrincipal{servicePrincipal(service, nil)},
		Actions:    jsii.Strings(actions...),
		Resources:  jsii.Strings("*"), // in a key's policy: this key
		Conditions: &conditions,
	}), jsii.Bool(true))
}

// grantKey lets somebody use the scheduler's key, if it has one.
func (s *Scheduler) grantKey(to awsiam.IGrantable, actions []string) {
	if s.key != nil {
		s.key.Grant(to, *jsii.Strings(actions...)...)
	}
}
