package localcloud

import (
	"bytes"
	"encoding/json"
	"errors"
)

// workStates are the names of the state that does a job's work: a chain of the user's may
// have one called as the other.
var workStates = []string{"Cronfence Chain", "Run"}

// replaceWork puts an invocation of a function in the place of a job's work, whatever that
// is, with the run object as its payload. What stands around it, its retries and where it
// leads to, stays.
func replaceWork(definition, function string) (string, error) {
	d := json.NewDecoder(bytes.NewReader([]byte(definition)))
	d.UseNumber()
	var machine any
	if err := d.Decode(&machine); err != nil {
		return "", err
	}
	run := runObject(machine)
	var work map[string]any
	for _, name := range workStates {
		if work == nil {
			work = stateNamed(machine, name)
		}
	}
	if run == nil || work == nil {
		return "", errors.New("it has no state that gets a run object, for the command to stand in for")
	}
	for _, field := range []string{
		"Type", "Resource", "Parameters", "Branches", "HeartbeatSeconds", "ResultSelector",
		"InputPath", "OutputPath", "ItemProcessor", "Iterator", "ItemsPath", "ItemSelector",
	} {
		delete(work, field)
	}
	work["Type"], work["Resource"] = "Task", invokeResource
	work["Parameters"] = map[string]any{"FunctionName": function, "Payload": run}
	text, err := encode(machine)
	return string(text), err
}

// runObject finds the template of the run object: nothing else in a job's machine names
// both the scheduler and the fence.
func runObject(v any) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		if v["scheduler"] != nil && v["fence.$"] != nil {
			delete(v, "taskToken.$") // of a worker's message; the command's exit is the answer
			return v
		}
		for _, inner := range v {
			if run := runObject(inner); run != nil {
				return run
			}
		}
	case []any:
		for _, inner := range v {
			if run := runObject(inner); run != nil {
				return run
			}
		}
	}
	return nil
}

func stateNamed(v any, name string) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		states, _ := v["States"].(map[string]any)
		if s, ok := states[name].(map[string]any); ok {
			return s
		}
		for _, inner := range v {
			if s := stateNamed(inner, name); s != nil {
				return s
			}
		}
	case []any:
		for _, inner := range v {
			if s := stateNamed(inner, name); s != nil {
				return s
			}
		}
	}
	return nil
}
