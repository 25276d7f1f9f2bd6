package asl

import (
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

func statusOf(res Result, err error) string {
	switch {
	case errors.Is(err, ErrTimedOut):
		return "TIMED_OUT"
	case err != nil:
		return "ABORTED"
	case res.Err != nil:
		return "FAILED"
	}
	return "SUCCEEDED"
}

func sameText(got, want string) bool {
	return got == want || sameJSON([]byte(got), []byte(want))
}

func sameJSON(got, want []byte) bool {
	var g, w any
	if json.Unmarshal(got, &g) != nil || json.Unmarshal(want, &w) != nil {
		return false
	}
	return sameValue(g, w)
}

var wildcard = regexp.MustCompile(`<[^<>]*>`)

// sameValue compares decoded JSON, where a recorded string may hold stand-ins.
func sameValue(got, want any) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for k := range w {
			if _, ok := g[k]; !ok || !sameValue(g[k], w[k]) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		return ok && slices.EqualFunc(g, w, sameValue)
	case string:
		g, ok := got.(string)
		return ok && sameString(g, w)
	}
	return reflect.DeepEqual(got, want)
}

var uuidStandIn = regexp.MustCompile(`^00000000-0000-4000-8000-\d{12}$`)

func sameString(got, want string) bool {
	if strings.Contains(want, "task_token") || uuidStandIn.MatchString(want) && len(got) == len(want) {
		return true
	}
	if got == want || strings.HasSuffix(want, "-time") || slices.Contains([]string{"timestamp", "date", "time"}, want) {
		return true
	}
	if !wildcard.MatchString(want) {
		return false
	}
	pattern := regexp.QuoteMeta(wildcard.ReplaceAllString(want, "\x00"))
	return regexp.MustCompile("^(?s:" + strings.ReplaceAll(pattern, "\x00", ".*") + ")$").MatchString(got)
}
