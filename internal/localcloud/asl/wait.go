package asl

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// maxWait is the longest wait there is, in seconds: about three years, as AWS has it.
const maxWait = 99999999

func number(n int) json.Number { return json.Number(strconv.Itoa(n)) }

func (v *visit) wait(ctx context.Context, input any) *Error {
	d, failed := v.waitTime(input)
	if failed != nil {
		return failed
	}
	if d > 0 {
		_ = v.x.Clock.Sleep(ctx, d) // the caller looks at ctx
	}
	return nil
}

func (v *visit) waitTime(input any) (time.Duration, *Error) {
	s := v.state
	if s.Seconds.given || s.SecondsPath != nil {
		return v.seconds("Seconds", &s.Seconds, s.SecondsPath, input)
	}
	got, failed := v.field(&s.Timestamp, s.TimestampPath, input)
	if failed != nil {
		return 0, failed
	}
	at, ok := timestampOf(got)
	if !ok {
		return 0, v.asError(v.mistyped(fmt.Sprintf("the Timestamp cannot be parsed as an ISO-8601 extended offset date-time: %v", got)))
	}
	return at.Sub(v.x.Clock.Now()), nil
}

// field evaluates what is given either as a value or as a path. It returns nil when
// neither is.
func (v *visit) field(field *value, p *Path, input any) (any, *Error) {
	eval := field.eval
	if p != nil {
		eval = p.get
	}
	if eval == nil {
		return nil, nil
	}
	got, err := eval(v.scope(input))
	if err != nil {
		return nil, v.asError(err)
	}
	return got, nil
}

// seconds reads a whole number of seconds, 0 when there is none.
func (v *visit) seconds(name string, field *value, p *Path, input any) (time.Duration, *Error) {
	n, failed := v.whole(name, field, p, input)
	return time.Duration(n) * time.Second, failed
}

// whole reads a whole number from 0.
func (v *visit) whole(name string, field *value, p *Path, input any) (int64, *Error) {
	got, failed := v.field(field, p, input)
	if failed != nil || (!field.given && p == nil) {
		return 0, failed
	}
	n, ok := wholeNumber(got)
	if !ok || n < 0 || n > maxWait {
		return 0, v.asError(v.mistyped(fmt.Sprintf("the field %s refers to %v, which is not a whole number from 0 to %d", name, got, maxWait)))
	}
	return n, nil
}
