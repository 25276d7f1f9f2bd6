package cronfence

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// ChainTargetProps are the props of a [ChainTarget].
type ChainTargetProps struct {
	// Drain is how long work of the chain may go on after its run was stopped: the longest
	// timeout of its functions, the stop timeout of its containers. To state it also states
	// that stopping the run stops its work, which policy.Replace needs. Default: 15
	// minutes, Lambda's limit.
	Drain time.Duration
}

// ChainTarget runs states of the user's own, any chain of the CDK, with the run object as
// their input. It becomes part of the job's state machine, in a Parallel of one branch: its
// Succeed or Fail ends the run so. Names of its states must not begin with "Cronfence ".
//
// The chain's retries and timeouts are its author's: the CDK's default retries of a task
// may start work again that is still going on. Its states count into the history of
// 25,000 events at which Step Functions ends an execution; loops and inline Maps are counted
// once, with a warning, since nobody knows how often they go round. Each of the library's
// targets as a task of its own has fewer such traps than a chain of one. props may be nil.
func ChainTarget(chain awsstepfunctions.IChainable, props *ChainTargetProps) Target {
	if chain == nil {
		return nil
	}
	if props == nil {
		props = &ChainTargetProps{}
	}
	return &chainTarget{chain: chain, drain: props.Drain}
}

type chainTarget struct {
	chain awsstepfunctions.IChainable
	drain time.Duration
	graph awsstepfunctions.StateGraph
	text  string // of the graph, a token
}

// chainPlaceholder stands for the chain's text where the definition is encoded: the text is
// known to CloudFormation only.
const chainPlaceholder = "@cronfence:chain@"

func (t *chainTarget) facts(scope constructs.Construct) targetFacts {
	f := targetFacts{doubtful: true}
	f.drainOf("a chain", t.drain)
	if err := t.render(scope); err != nil {
		f.bad.addf("target: chain: %v", err)
		return f
	}
	c, err := readChain(plain(awscdk.Stack_Of(scope).Resolve(t.text)))
	if err != nil {
		f.bad.addf("target: chain: %v", err)
		return f
	}
	for _, name := range c.names {
		if strings.HasPrefix(name, statePrefix) {
			f.bad.addf("target: chain: state %q: must not begin with %q, as the library's own do", name, statePrefix)
		}
	}
	f.events = c.events
	if c.unbounded {
		awscdk.Annotations_Of(scope).AddWarningV2(jsii.String("cronfence:chain-loops"), jsii.String(
			"the chain has a loop or an inline Map: its events of history are counted as if it went round once, and 25,000 of them end a run"), nil)
	}
	return f
}

// render makes the chain's text. The CDK panics where states are used twice, and so on.
func (t *chainTarget) render(scope constructs.Construct) (err error) {
	if t.graph != nil { // one target for several jobs
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	graph := awsstepfunctions.NewStateGraph(t.chain.StartState(), jsii.String("Chain of "+*scope.Node().Path()))
	principal := awsiam.NewServicePrincipal(jsii.String("states.amazonaws.com"), nil)
	body := awsstepfunctions.DefinitionBody_FromChainable(t.chain)
	t.text = *body.Bind(scope, principal, &awsstepfunctions.StateMachineProps{}, graph).DefinitionString
	t.graph = graph
	return nil
}

// plain is a resolved text with a word in place of each reference.
func plain(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		join, _ := v["Fn::Join"].([]any)
		if len(join) != 2 {
			return "reference"
		}
		parts, _ := join[1].([]any)
		var b strings.Builder
		for _, part := range parts {
			b.WriteString(plain(part))
		}
		return b.String()
	}
	return ""
}

func (t *chainTarget) work(_ constructs.Construct, m machine) work {
	return work{
		task:      state{Type: "Parallel", Parameters: m.runObject(), Branches: []any{chainPlaceholder}},
		cancelled: true,
	}
}

// fill puts the chain's text into the encoded definition.
func (t *chainTarget) fill(definition string) string {
	return strings.Replace(definition, `"`+chainPlaceholder+`"`, t.text, 1)
}

func (t *chainTarget) grants(constructs.Construct) grants {
	return grants{statements: *t.graph.PolicyStatements()}
}

// bind lets the chain's distributed Maps start executions of the machine.
func (t *chainTarget) bind(m awsstepfunctions.StateMachine) { t.graph.Bind(m) }
