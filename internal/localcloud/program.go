package localcloud

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/cronfence/cronfence/internal/localcloud/assembly"
	"github.com/cronfence/cronfence/internal/localcloud/lambdaapi"
)

// programOf says how a function runs as built: by its bootstrap in the assembly.
func (c *Cloud) programOf(f assembly.Function) (*lambdaapi.Program, error) {
	switch {
	case c.config.Directory == "" || f.Asset == "":
		return nil, errors.New("its code is not in the assembly")
	case !strings.HasPrefix(f.Runtime, "provided"):
		return nil, fmt.Errorf("it needs the runtime %q; what runs here is a bootstrap on a provided one", f.Runtime)
	case runtime.GOOS != "linux":
		return nil, fmt.Errorf("it is built for linux, and this is %s", runtime.GOOS)
	}
	dir := filepath.FromSlash(f.Asset)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.config.Directory, dir)
	}
	dir, err := filepath.Abs(dir) // the process runs elsewhere
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "bootstrap")
	info, err := os.Stat(file)
	if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
		return nil, fmt.Errorf("%s holds no executable bootstrap", f.Asset)
	}
	if err := checkArchitecture(file); err != nil {
		return nil, err
	}
	return &lambdaapi.Program{Path: file, Dir: dir, Env: append(functionEnv(os.Environ(), f, dir), endpointVariable+"="+c.tables.URL()), Out: c.config.Out}, nil
}

var elfMachines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// checkArchitecture refuses a binary for another processor. A script is for any.
func checkArchitecture(file string) error {
	f, err := elf.Open(file)
	if err != nil {
		return nil // no binary, then
	}
	defer func() { _ = f.Close() }()
	if want := elfMachines[runtime.GOARCH]; f.Machine != want {
		return fmt.Errorf("it is built for %v, and this machine is %s: build it for the processor here", f.Machine, runtime.GOARCH)
	}
	return nil
}

// functionEnv is a function's environment: what Lambda sets, the function's own variables,
// and of the caller's what a program needs to run. The caller's access to AWS is not handed
// on - a job tried out here is not to change what is deployed - unless AWS_ENDPOINT_URL says
// that an emulator is meant.
func functionEnv(caller []string, f assembly.Function, dir string) []string {
	var env []string
	emulated := variable(caller, emulatorVariable) != ""
	for _, v := range caller {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case name == "PATH" || name == "TMPDIR" || name == "LANG",
			emulated && (name == "HOME" || strings.HasPrefix(name, "AWS_")):
			env = append(env, v)
		}
	}
	if !emulated {
		env = append(env, "AWS_ACCESS_KEY_ID="+worthless, "AWS_SECRET_ACCESS_KEY="+worthless, "AWS_SESSION_TOKEN="+worthless,
			"AWS_REGION="+assembly.Region, "AWS_DEFAULT_REGION="+assembly.Region, "HOME="+os.TempDir())
	}
	env = append(env,
		"TZ=:UTC", "LAMBDA_TASK_ROOT="+dir, "LAMBDA_RUNTIME_DIR="+dir, "_HANDLER="+f.Handler, "AWS_EXECUTION_ENV=AWS_Lambda_"+f.Runtime,
		"AWS_LAMBDA_FUNCTION_NAME="+f.Name, "AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE="+strconv.Itoa(f.MemoryMB),
	)
	for name, value := range f.Environment {
		env = append(env, name+"="+value)
	}
	return env
}

// noteClock says what no process can be spared: it does not know the local cloud's time.
func (c *Cloud) noteClock() {
	if speed := c.config.Speed; speed != 1 && (c.processes || len(c.config.Exec) > 0) {
		c.notices = append(c.notices, fmt.Sprintf("functions as built and commands go by this machine's clock: at %v times its speed their deadlines and budgets do not fit", speed))
	}
}
