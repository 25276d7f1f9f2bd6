// Command app is the example app: three jobs on one scheduler. `cdk deploy` at the
// repository's root deploys it; -c architecture=x86_64 builds for the other architecture.
package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

func main() {
	defer jsii.Close()
	app := awscdk.NewApp(nil)
	newStack(app, stackProps{architecture: architectureOf(app)})
	app.Synth(nil)
}
