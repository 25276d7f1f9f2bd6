package cronfence

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/pkg/schedule"
)

// The template is measured before it is written: within some per cent, or the refusal would
// come too early or too late.
func TestTemplateIsMeasuredAsItIsWritten(t *testing.T) {
	for _, compact := range []bool{false, true} {
		crowd := newCrowd(t, map[string]any{noIndentation: compact})
		fn := awslambda.Function_FromFunctionArn(crowd.stack, jsii.String("Work"), jsii.String("arn:aws:lambda:eu-central-1:111122223333:function:w"))
		for i := range 10 {
			crowd.scheduler.AddJob(fmt.Sprintf("job-%03d", i), &JobProps{Schedule: schedule.Every(time.Hour), Target: LambdaTarget(fn), MaxRun: time.Hour, Payload: map[string]any{"q": `a"b`}})
		}
		measured, limit := 0, stackLimit{stack: crowd.stack}
		for _, c := range *crowd.stack.Node().FindAll("") {
			if r, ok := c.(awscdk.CfnResource); ok {
				measured += limit.size(r)
			}
		}
		written, err := os.ReadFile(filepath.Join(*crowd.app.Synth(nil).Directory(), "Jobs.template.json"))
		if err != nil {
			t.Fatal(err)
		}
		if off := float64(measured)/float64(len(written)) - 1; off < -0.04 || off > 0.04 {
			t.Errorf("compact %v: measured %d bytes, written %d: %.1f %% off", compact, measured, len(written), 100*off)
		}
	}
}
