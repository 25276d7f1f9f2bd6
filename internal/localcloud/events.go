package localcloud

import (
	"context"
	"crypto/rand"
	"encoding/json"

	"github.com/cronfence/cronfence/internal/localcloud/asl"
	"github.com/cronfence/cronfence/internal/localcloud/assembly"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// events plays EventBridge: it hands events to the targets of the rules that match.
type events struct {
	clock asl.Clock
	rules []assembly.Rule
	async *async
	ctx   context.Context
	lost  func(machineARN, run, status string) bool // whether an event goes astray
}

// statusChanged sends Step Functions' own event.
func (e *events) statusChanged(d schema.StatusDetail) {
	text, err := encode(map[string]any{
		"version":     "0",
		"id":          rand.Text(),
		"detail-type": schema.StatusDetailType,
		"source":      "aws.states",
		"account":     assembly.Account,
		"time":        asl.Timestamp(e.clock.Now()),
		"region":      assembly.Region,
		"resources":   []string{d.ExecutionARN},
		"detail":      d,
	})
	if err != nil {
		return // a StatusDetail can be written
	}
	var event map[string]any
	if json.Unmarshal(text, &event) != nil {
		return
	}
	for _, rule := range e.rules {
		if rule.Disabled || !rule.Pattern.Matches(event) {
			continue
		}
		if e.lost(d.MachineARN, d.Name, d.Status) {
			return
		}
		for _, target := range rule.TargetARNs {
			if name := functionOf(target); name != "" {
				e.async.invoke(e.ctx, name, text)
			}
		}
	}
}
