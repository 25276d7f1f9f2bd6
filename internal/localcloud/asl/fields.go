package asl

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// What each state type may carry. A field that AWS knows and this package does not is
// left out here on purpose: it is refused like one that nobody knows.
var (
	commonFields = []string{"Type", "Comment", "QueryLanguage"}
	flowFields   = []string{"Next", "End"}
	ioFields     = []string{"InputPath", "OutputPath"}
	errorFields  = []string{"Retry", "Catch"}
	resultFields = []string{"Parameters", "ResultSelector", "ResultPath"}

	stateFields = map[string][]string{
		"Task": slices.Concat(flowFields, ioFields, resultFields, errorFields,
			[]string{"Resource", "TimeoutSeconds", "TimeoutSecondsPath", "HeartbeatSeconds", "HeartbeatSecondsPath"}),
		"Parallel": slices.Concat(flowFields, ioFields, resultFields, errorFields, []string{"Branches"}),
		"Pass":     slices.Concat(flowFields, ioFields, []string{"Parameters", "Result", "ResultPath"}),
		"Wait": slices.Concat(flowFields, ioFields,
			[]string{"Seconds", "SecondsPath", "Timestamp", "TimestampPath"}),
		"Choice":  slices.Concat(ioFields, []string{"Choices", "Default"}),
		"Succeed": ioFields,
		"Fail":    {"Error", "Cause", "ErrorPath", "CausePath"},
	}

	topFields    = []string{"Comment", "StartAt", "States", "TimeoutSeconds", "Version", "QueryLanguage"}
	branchFields = []string{"Comment", "StartAt", "States"}
)

// decode reads a JSON object into v and refuses fields that are not allowed. what names
// the object in errors.
func decode(what string, raw []byte, v any, allowed ...string) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	var unknown []string
	for name := range fields {
		if !slices.Contains(allowed, name) {
			unknown = append(unknown, fmt.Sprintf("%q", name))
		}
	}
	if len(unknown) > 0 {
		sort.Strings(unknown)
		return fmt.Errorf("%s: field %s is not supported; the local cloud knows %s",
			what, strings.Join(unknown, ", "), strings.Join(allowed, ", "))
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func checkQueryLanguage(what, lang string) error {
	if lang != "" && lang != "JSONPath" {
		return fmt.Errorf("%s: query language %q is not supported; the local cloud knows JSONPath", what, lang)
	}
	return nil
}
