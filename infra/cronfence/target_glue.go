package cronfence

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// GlueTarget runs the AWS Glue job of this name and waits for it. The script finds the run
// object as JSON in its argument CRONFENCE_RUN; the payload is 64 KiB at most. The maximum
// run time is also set as the Glue run's own timeout, in whole minutes. A start that meets Glue's limit
// of concurrent runs is tried again for 14 seconds. A stopped run is given 5 minutes to end,
// for which the guard is held. Stopping is Step Functions' best effort.
func GlueTarget(jobName string) Target { return glueTarget{jobName} }

type glueTarget struct{ job string }

const (
	glueStopTime   = 5 * time.Minute
	maxGluePayload = 64 * 1024
)

func (t glueTarget) facts(constructs.Construct) targetFacts {
	f := targetFacts{
		doubtful: true, drain: glueStopTime, events: schema.SyncEvents, maxPayload: maxGluePayload, carrier: "Glue's arguments",
	}
	if t.job == "" {
		f.bad.addf("target: no Glue job given: must be the name of one")
	}
	return f
}

func (t glueTarget) work(_ constructs.Construct, m machine) work {
	minutes := (m.spec.MaxRunSeconds + 59) / 60
	return work{
		task: state{Type: "Task", Resource: m.integration("glue:startJobRun.sync"), Parameters: map[string]any{
			"JobName":   t.job,
			"Arguments": map[string]any{"--" + schema.RunVariable + ".$": runText},
			"Timeout":   minutes,
		}},
		cancelled: true, object: true,
		neverStarted: []string{"Glue.ConcurrentRunsExceededException"},
	}
}

func (t glueTarget) grants(scope constructs.Construct) grants {
	job := awscdk.Stack_Of(scope).FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("glue"), Resource: jsii.String("job"), ResourceName: &t.job,
	})
	return grants{permissions: []permission{
		permit([]string{*job}, "glue:StartJobRun", "glue:GetJobRun", "glue:GetJobRuns", "glue:BatchStopJobRun"),
	}}
}
