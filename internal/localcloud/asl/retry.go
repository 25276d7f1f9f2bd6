package asl

import (
	"fmt"
	"math"
	"time"
)

// retrier is one entry of Retry. Each counts its own attempts.
type retrier struct {
	ErrorEquals     []string
	IntervalSeconds *int64
	MaxAttempts     *int64
	BackoffRate     *float64
	MaxDelaySeconds *int64
	JitterStrategy  string
}

func (r *retrier) UnmarshalJSON(raw []byte) error {
	type plain retrier
	err := decode("retry", raw, (*plain)(r), "Comment", "ErrorEquals", "IntervalSeconds", "MaxAttempts",
		"BackoffRate", "MaxDelaySeconds", "JitterStrategy")
	switch {
	case err != nil:
		return err
	case r.JitterStrategy != "" && r.JitterStrategy != "NONE" && r.JitterStrategy != "FULL":
		return fmt.Errorf("retry: JitterStrategy %q: must be NONE or FULL", r.JitterStrategy)
	case r.BackoffRate != nil && *r.BackoffRate < 1:
		return fmt.Errorf("retry: BackoffRate %v: must be at least 1", *r.BackoffRate)
	case r.IntervalSeconds != nil && *r.IntervalSeconds < 1:
		return fmt.Errorf("retry: IntervalSeconds %d: must be positive", *r.IntervalSeconds)
	}
	return nil
}

// delay returns how long to wait before the retry that follows done earlier ones of this
// entry, and false when the entry has none left. jitter is a number in [0,1).
func (r *retrier) delay(done int, jitter func() float64) (time.Duration, bool) {
	if int64(done) >= or(r.MaxAttempts, 3) {
		return 0, false
	}
	seconds := float64(or(r.IntervalSeconds, 1)) * math.Pow(or(r.BackoffRate, 2), float64(done))
	seconds = math.Min(seconds, float64(or(r.MaxDelaySeconds, 31622400)))
	if r.JitterStrategy == "FULL" {
		seconds *= jitter()
	}
	return time.Duration(seconds * float64(time.Second)), true
}

func or[T any](p *T, missing T) T {
	if p == nil {
		return missing
	}
	return *p
}

// catcher is one entry of Catch.
type catcher struct {
	ErrorEquals    []string
	Next           string
	ResultPath     pathField // JSONPath
	Output, Assign value
}

func (c *catcher) UnmarshalJSON(raw []byte) error {
	type plain catcher
	if err := decode("catch", raw, (*plain)(c), "Comment", "ErrorEquals", "Next", "ResultPath", "Output", "Assign"); err != nil {
		return err
	}
	if c.ResultPath.path != nil {
		return c.ResultPath.path.checkReference()
	}
	return nil
}

func (c *catcher) compile(lang language) error {
	if lang == jsonPath && c.Output.given {
		return fmt.Errorf("field \"Output\" is not supported in JSONPath")
	}
	if lang == jsonata && (c.ResultPath.path != nil || c.ResultPath.null) {
		return fmt.Errorf("field \"ResultPath\" is not supported in JSONata")
	}
	if err := c.Output.compile(lang, "Output"); err != nil {
		return err
	}
	return c.Assign.compile(lang, "Assign")
}
