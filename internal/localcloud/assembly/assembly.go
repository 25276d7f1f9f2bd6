// Package assembly reads a synthesized CDK cloud assembly and says what of it the local
// cloud can run: schedules, state machines, functions and rules, with references
// resolved to local names. What it cannot run it names.
package assembly

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// Where everything of the local cloud is.
const (
	Region  = "local-1"
	Account = "000000000000"
)

// Assembly is what an assembly holds that the local cloud runs.
type Assembly struct {
	Schedules []Schedule
	Machines  []Machine
	Functions []Function
	Rules     []Rule
	Tables    []Table
	// Notices name what is in the assembly and does not run locally, in plain words.
	Notices []string
}

// Schedule is an AWS::Scheduler::Schedule.
type Schedule struct {
	ID         string // where it is defined: stack and logical id
	ARN        string
	Name       string
	Group      string
	Expression string
	Timezone   string
	Start, End time.Time // zero when there is none
	Disabled   bool
	TargetARN  string
	Input      string        // with context attributes as they stand
	Window     time.Duration // of a flexible time window; 0 when there is none
	// What becomes of a hand-over that fails: tried again so often, for so long, and then
	// sent to a queue, if there is one.
	Retries    int
	MaxAge     time.Duration
	DeadLetter string // ARN
}

// Machine is an AWS::StepFunctions::StateMachine.
type Machine struct {
	ID         string
	ARN        string
	Name       string
	RoleARN    string
	Definition string
}

// Function is an AWS::Lambda::Function.
type Function struct {
	ID          string
	ARN         string
	Name        string
	Timeout     time.Duration
	Environment map[string]string
	// GoPackage is the import path of the function's main package, from the metadata
	// that the constructs leave; empty for other functions.
	GoPackage string
	// Code as built: the asset's path within the assembly, empty when it is not there, and
	// what runs it.
	Asset                          string
	Runtime, Handler, Architecture string
	MemoryMB                       int
	// What becomes of an asynchronous invocation that fails: tried again so often, for so
	// long, and then sent to a queue or another destination, if there is one.
	Retries    int
	MaxAge     time.Duration
	DeadLetter string // ARN
}

// Rule is an AWS::Events::Rule with an event pattern.
type Rule struct {
	ID         string
	Name       string
	Disabled   bool
	Pattern    Pattern
	TargetARNs []string
}

// Load reads the assembly in fsys: manifest.json and the templates it names, those of
// nested assemblies too.
func Load(fsys fs.FS) (*Assembly, error) {
	w := &world{exports: map[string]export{}, assets: map[string]string{}}
	if err := w.readManifest(fsys, "."); err != nil {
		return nil, err
	}
	if len(w.stacks) == 0 {
		return nil, fmt.Errorf("manifest.json: names no CloudFormation stack")
	}
	a := &Assembly{}
	for _, s := range w.stacks {
		if err := s.collect(a); err != nil {
			return nil, fmt.Errorf("stack %s: %w", s.name, err)
		}
	}
	for _, s := range w.stacks {
		if err := s.collectRetries(a); err != nil {
			return nil, fmt.Errorf("stack %s: %w", s.name, err)
		}
	}
	return a, nil
}

// world is all stacks of an assembly: they may import from each other.
type world struct {
	stacks  []*stack
	exports map[string]export
	assets  map[string]string // paths in the assembly, by hash
}

type export struct {
	stack *stack
	value any
}

type manifest struct {
	Artifacts map[string]struct {
		Type       string
		Properties struct {
			TemplateFile  string
			StackName     string
			DirectoryName string
			File          string
		}
	}
}

func (w *world) readManifest(fsys fs.FS, dir string) error {
	var m manifest
	if err := readJSON(fsys, path.Join(dir, "manifest.json"), &m); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(m.Artifacts)) {
		artifact := m.Artifacts[id]
		switch artifact.Type {
		case "cdk:cloud-assembly":
			if err := w.readManifest(fsys, path.Join(dir, artifact.Properties.DirectoryName)); err != nil {
				return err
			}
		case "cdk:asset-manifest":
			if err := w.readAssets(fsys, path.Join(dir, artifact.Properties.File)); err != nil {
				return err
			}
		case "aws:cloudformation:stack":
			name := artifact.Properties.StackName
			if name == "" {
				name = id
			}
			if err := w.readStack(fsys, path.Join(dir, artifact.Properties.TemplateFile), name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *world) readStack(fsys fs.FS, file, name string) error {
	s := &stack{world: w, name: name}
	if err := readJSON(fsys, file, &s.template); err != nil {
		return err
	}
	for _, output := range s.template.Outputs {
		if output.Export == nil {
			continue
		}
		exported, err := s.text(output.Export.Name)
		if err != nil {
			return fmt.Errorf("%s: export name: %w", file, err)
		}
		w.exports[exported] = export{s, output.Value}
	}
	w.stacks = append(w.stacks, s)
	return nil
}

func readJSON(fsys fs.FS, file string, v any) error {
	text, err := fs.ReadFile(fsys, file)
	if err != nil {
		return fmt.Errorf("read assembly: %w; run `cdk synth`, or name its output directory", err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("read assembly: %s: %w", file, err)
	}
	return nil
}

// quietTypes do nothing that a local run would show, or are there in another form: queues
// and alarms only watch.
var quietTypes = []string{
	"AWS::IAM::", "AWS::Logs::", "AWS::CloudWatch::", "AWS::SQS::", "AWS::SNS::", "AWS::KMS::",
	"AWS::CDK::Metadata", "AWS::Lambda::Permission", "AWS::Lambda::EventInvokeConfig", "AWS::Scheduler::ScheduleGroup",
}

func isQuiet(kind string) bool {
	return slices.ContainsFunc(quietTypes, func(prefix string) bool { return strings.HasPrefix(kind, prefix) })
}
