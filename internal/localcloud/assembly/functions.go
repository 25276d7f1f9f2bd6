package assembly

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
)

// Lambda's defaults.
const (
	defaultTimeout  = 3 * time.Second
	defaultMemory   = 128
	defaultRetries  = 2
	defaultEventAge = 6 * time.Hour
)

func (s *stack) addFunction(a *Assembly, id string, r resource) error {
	var p struct {
		Timeout, MemorySize *int64
		Environment         struct{ Variables map[string]string }
		Runtime, Handler    string
		Architectures       []string
		DeadLetterConfig    struct{ TargetArn string }
	}
	wanted := only(r.Properties, "Timeout", "MemorySize", "Environment", "Runtime", "Handler", "Architectures", "DeadLetterConfig")
	if err := s.properties(resource{Properties: wanted}, &p); err != nil {
		return err
	}
	out := Function{
		ID: s.where(id, r), Timeout: seconds(p.Timeout, defaultTimeout), Environment: p.Environment.Variables,
		Asset: s.assetOf(r), Runtime: p.Runtime, Handler: p.Handler, Architecture: "x86_64", MemoryMB: int(or(p.MemorySize, defaultMemory)),
		Retries: defaultRetries, MaxAge: defaultEventAge, DeadLetter: p.DeadLetterConfig.TargetArn,
	}
	if len(p.Architectures) > 0 {
		out.Architecture = p.Architectures[0]
	}
	out.GoPackage, _ = r.Metadata[goPackageKey].(string)
	var err error
	if out.Name, err = s.nameOf(id, r); err != nil {
		return err
	}
	out.ARN, err = s.arnOf(id, r)
	a.Functions = append(a.Functions, out)
	return err
}

// assetOf finds a function's code in the assembly: the object it is to be uploaded as is
// named after the asset's hash.
func (s *stack) assetOf(r resource) string {
	code, _ := r.Properties["Code"].(map[string]any)
	key, err := s.text(code["S3Key"])
	if err != nil {
		return ""
	}
	return s.world.assets[strings.TrimSuffix(path.Base(key), path.Ext(key))]
}

// readAssets reads where a stack's assets are. Without the file there are none.
func (w *world) readAssets(fsys fs.FS, file string) error {
	if _, err := fs.Stat(fsys, file); err != nil {
		return nil
	}
	var manifest struct {
		Files map[string]struct{ Source struct{ Path string } }
	}
	if err := readJSON(fsys, file, &manifest); err != nil {
		return err
	}
	for hash, f := range manifest.Files {
		w.assets[hash] = f.Source.Path
		if !path.IsAbs(f.Source.Path) { // as it is with staging off
			w.assets[hash] = path.Join(path.Dir(file), f.Source.Path)
		}
	}
	return nil
}

func only(properties map[string]any, names ...string) map[string]any {
	out := map[string]any{}
	for _, name := range names {
		if v, ok := properties[name]; ok {
			out[name] = v
		}
	}
	return out
}

// collectRetries reads what becomes of asynchronous invocations that fail.
func (s *stack) collectRetries(a *Assembly) error {
	for id, r := range s.template.Resources {
		if r.Type != "AWS::Lambda::EventInvokeConfig" {
			continue
		}
		var p struct {
			FunctionName             string
			MaximumRetryAttempts     *int
			MaximumEventAgeInSeconds *int64
			DestinationConfig        struct{ OnFailure struct{ Destination string } }
		}
		if err := s.properties(r, &p); err != nil {
			return fmt.Errorf("%s: %w", s.where(id, r), err)
		}
		for i := range a.Functions {
			f := &a.Functions[i]
			if f.Name != p.FunctionName && f.ARN != p.FunctionName {
				continue
			}
			f.Retries = or(p.MaximumRetryAttempts, f.Retries)
			f.MaxAge = seconds(p.MaximumEventAgeInSeconds, f.MaxAge)
			if d := p.DestinationConfig.OnFailure.Destination; d != "" {
				f.DeadLetter = d
			}
		}
	}
	return nil
}

func (a *Assembly) notice(format string, args ...any) {
	a.Notices = append(a.Notices, fmt.Sprintf(format, args...))
}
