package policy_test

import (
	"fmt"

	"github.com/cronfence/cronfence/pkg/policy"
)

// A tick that finds its job running waits, and makes way for a newer one.
func ExampleRule_Decide() {
	rule := policy.Rule{Overlap: policy.QueueOne}
	fmt.Println(rule.Decide(policy.Situation{Held: true}) == policy.Wait)
	fmt.Println(rule.Decide(policy.Situation{Held: true, Waiting: policy.NewerWaits}) == policy.Coalesce)
	// Output:
	// true
	// true
}
