package cronfence

import (
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func TestBeatIsRetriedWithinTheLease(t *testing.T) {
	for renewal := time.Second; renewal < time.Hour; renewal += 13 * time.Second {
		for _, longer := range []time.Duration{0, time.Second, time.Minute, time.Hour} {
			spec := schema.Spec{
				RenewalSeconds: wholeSeconds(renewal), LeaseSeconds: wholeSeconds(schema.MinLease(renewal) + longer),
			}
			r := beatRetry(spec)
			worst, delay := schema.HeartbeatTimeout, time.Second
			for range r.MaxAttempts {
				worst += delay + schema.HeartbeatTimeout
				delay = min(2*delay, time.Duration(r.MaxDelaySeconds)*time.Second)
			}
			left := spec.Lease() - schema.SkewMargin - spec.Renewal()
			if r.MaxAttempts < 3 || worst > left {
				t.Fatalf("lease %v, renewal %v: %d retries take up to %v: want at least 3 within %v", spec.Lease(), renewal, r.MaxAttempts, worst, left)
			}
			if more := worst + delay + schema.HeartbeatTimeout; more <= left {
				t.Fatalf("lease %v, renewal %v: one more retry would fit", spec.Lease(), renewal)
			}
		}
	}
}

func TestWaitsFitTheirAllowances(t *testing.T) {
	total := func(r retrier) (sum time.Duration) {
		delay := time.Duration(r.IntervalSeconds) * time.Second
		for range r.MaxAttempts {
			sum += delay
			delay = time.Duration(float64(delay) * r.BackoffRate)
			if most := time.Duration(r.MaxDelaySeconds) * time.Second; most > 0 {
				delay = min(delay, most)
			}
		}
		return sum
	}
	if got := total(startRetry); got != startWait || got >= schema.MachineSlack {
		t.Errorf("a throttled job is retried over %v: want %v, less than the machine's slack of %v", got, startWait, schema.MachineSlack)
	}
	for _, lease := range []time.Duration{0, schema.MinLease(time.Second), schema.DefaultLease, time.Hour} {
		renewal := schema.DefaultRenewal
		if lease == 0 { // without beats
			renewal = 0
		}
		timeout := schema.MachineTimeout(time.Minute, lease, renewal)
		left := timeout - time.Minute - startWait
		r := settleRetry(schema.Spec{MaxRunSeconds: 60, MachineTimeoutSeconds: wholeSeconds(timeout)})
		if got := total(r); r.MaxAttempts < 3 || got > left/2 {
			t.Errorf("lease %v: settling is retried %d times over %v: want at least 3 within half of %v", lease, r.MaxAttempts, got, left)
		}
	}
}
