package asl

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// What each state type may carry in each query language. A field that AWS knows and this
// package does not is left out here on purpose: it is refused like one that nobody knows.
var (
	commonFields = []string{"Type", "Comment", "QueryLanguage"}
	flowFields   = []string{"Next", "End"}
	ioFields     = []string{"InputPath", "OutputPath"}
	errorFields  = []string{"Retry", "Catch"}
	resultFields = []string{"Parameters", "ResultSelector", "ResultPath"}
	outFields    = []string{"Output", "Assign"} // JSONata
	taskFields   = []string{"Resource", "TimeoutSeconds", "HeartbeatSeconds"}
	mapFields    = []string{"ItemProcessor", "Iterator", "ItemSelector", "MaxConcurrency", "ToleratedFailureCount", "ToleratedFailurePercentage"}

	stateFields = map[language]map[string][]string{
		jsonPath: {
			"Task": slices.Concat(flowFields, ioFields, resultFields, errorFields, taskFields,
				[]string{"Assign", "TimeoutSecondsPath", "HeartbeatSecondsPath"}),
			"Parallel": slices.Concat(flowFields, ioFields, resultFields, errorFields, []string{"Assign", "Branches"}),
			"Map": slices.Concat(flowFields, ioFields, resultFields, errorFields, mapFields,
				[]string{"Assign", "ItemsPath", "MaxConcurrencyPath"}),
			"Pass": slices.Concat(flowFields, ioFields, []string{"Assign", "Parameters", "Result", "ResultPath"}),
			"Wait": slices.Concat(flowFields, ioFields,
				[]string{"Assign", "Seconds", "SecondsPath", "Timestamp", "TimestampPath"}),
			"Choice":  slices.Concat(ioFields, []string{"Assign", "Choices", "Default"}),
			"Succeed": ioFields,
			"Fail":    {"Error", "Cause", "ErrorPath", "CausePath"},
		},
		jsonata: {
			"Task":     slices.Concat(flowFields, outFields, errorFields, taskFields, []string{"Arguments"}),
			"Parallel": slices.Concat(flowFields, outFields, errorFields, []string{"Arguments", "Branches"}),
			"Map":      slices.Concat(flowFields, outFields, errorFields, mapFields, []string{"Items"}),
			"Pass":     slices.Concat(flowFields, outFields),
			"Wait":     slices.Concat(flowFields, outFields, []string{"Seconds", "Timestamp"}),
			"Choice":   slices.Concat(outFields, []string{"Choices", "Default"}),
			"Succeed":  {"Output"},
			"Fail":     {"Error", "Cause"},
		},
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
