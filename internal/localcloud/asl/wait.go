package asl

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// maxWait is the longest wait there is: a year, as AWS has it.
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
	switch {
	case s.Seconds != nil:
		return time.Duration(*s.Seconds) * time.Second, nil
	case s.SecondsPath != nil:
		return v.seconds("SecondsPath", s.SecondsPath, input)
	case s.Timestamp != nil:
		at, _ := timestampOf(*s.Timestamp) // checked when the definition was read
		return at.Sub(v.x.Clock.Now()), nil
	}
	got, err := s.TimestampPath.get(scope{input, v.context})
	if err != nil {
		return 0, asError(s.name, err)
	}
	at, ok := timestampOf(got)
	if text, isText := got.(string); !ok || !isText || !strings.HasSuffix(text, "Z") {
		return 0, runtimeError(s.name, "the TimestampPath parameter does not reference a valid ISO-8601 extended offset date-time: %s == %v", s.TimestampPath, got)
	}
	return at.Sub(v.x.Clock.Now()), nil
}

// seconds reads a whole number of seconds that a path names.
func (v *visit) seconds(field string, p *Path, input any) (time.Duration, *Error) {
	got, err := p.get(scope{input, v.context})
	if err != nil {
		return 0, asError(v.state.name, err)
	}
	n, ok := got.(json.Number)
	whole, err := strconv.ParseInt(n.String(), 10, 64)
	if !ok || err != nil || whole < 0 || whole > maxWait {
		return 0, runtimeError(v.state.name, "%s %s: %v must be a whole number of seconds from 0 to %d", field, p, got, maxWait)
	}
	return time.Duration(whole) * time.Second, nil
}
