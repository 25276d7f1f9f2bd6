// Package rig starts what tests need that is not Go: emulators of AWS, one process a test
// binary, on a port of 127.0.0.1 that nobody else has, and database servers, on a socket of
// their own. Only tests import it.
package rig

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

//go:embed emulator.py
var launcher string

// startTimeout is generous: a busy machine loads the emulators' Python code slowly.
const startTimeout = 90 * time.Second

// stopTimeout is how long an emulator has to notice that it is no longer wanted.
const stopTimeout = 10 * time.Second

// emulator is a process that this test binary started, or has yet to start.
type emulator struct {
	name   string
	health string // path that answers 200
	// prepare runs before the start and returns what the process finds in its environment.
	prepare func() ([]string, error)

	once sync.Once
	err  error
	url  string
	cmd  *exec.Cmd
	life *os.File // the emulator lives until this is closed
}

var (
	moto      = &emulator{name: "moto", health: "/moto-api/"}
	motoSteps = &emulator{name: "moto-steps", health: "/moto-api/", prepare: serveFunctions}
	ministack = &emulator{name: "ministack", health: "/_ministack/health"}
)

// Run runs the package's tests and stops the emulators and servers they started:
//
//	func TestMain(m *testing.M) { os.Exit(rig.Run(m)) }
//
// Without it, or when the tests are killed, they end by themselves.
func Run(m *testing.M) int {
	defer moto.stop()
	defer stopFunctions()
	defer motoSteps.stop()
	defer ministack.stop()
	defer stopDaemons()
	return m.Run()
}

// endpoint starts the emulator at first use. Without a .venv the test is skipped, but
// fails in CI: there a skip would pass for a test.
func (e *emulator) endpoint(t testing.TB) string {
	t.Helper()
	python, err := venvPython()
	if errors.Is(err, os.ErrNotExist) {
		const msg = "the emulators are not installed: run `make tools` (%v)"
		if os.Getenv("CI") != "" {
			t.Fatalf(msg, err)
		}
		t.Skipf(msg, err)
	}
	e.once.Do(func() {
		if e.err = err; err == nil {
			e.err = e.start(python)
		}
	})
	if e.err != nil {
		t.Fatalf("start %s: %v", e.name, e.err)
	}
	return e.url
}

// venvPython finds the interpreter of the repository's virtual environment. The stamp is
// made last: without it the environment is not whole.
func venvPython() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			venv := filepath.Join(dir, ".venv")
			_, err := os.Stat(filepath.Join(venv, "stamp"))
			return filepath.Join(venv, "bin", "python"), err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("find go.mod above the test's directory: %w", os.ErrNotExist)
		}
		dir = parent
	}
}

func (e *emulator) start(python string) error {
	socket, port, err := listen()
	if err != nil {
		return err
	}
	defer socket.Close() // the emulator has its own copy
	theirEnd, ourEnd, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirEnd.Close()
	log, err := os.CreateTemp("", "cronfence-"+e.name+"-*.log")
	if err != nil {
		return err
	}
	defer log.Close()
	defer os.Remove(log.Name()) // it stays readable through log and is gone with the emulator

	cmd := exec.Command(python, "-c", launcher, e.name, strconv.Itoa(port)) // no context: it outlives the test that starts it
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirEnd, log, log
	cmd.ExtraFiles = []*os.File{socket}
	if e.prepare != nil {
		env, err := e.prepare()
		if err != nil {
			return err
		}
		cmd.Env = append(os.Environ(), env...)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // stop kills the emulator's children too
	if err := cmd.Start(); err != nil {
		ourEnd.Close()
		return err
	}
	e.cmd, e.life = cmd, ourEnd
	e.url = fmt.Sprintf("http://127.0.0.1:%d", port)
	if err := healthy(e.url + e.health); err != nil {
		e.stop()
		out, _ := io.ReadAll(io.NewSectionReader(log, 0, 16<<10))
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// listen opens the emulator's socket here, so that no port is looked up first and taken
// by another process before the emulator binds it. Connections wait until it accepts.
func listen() (socket *os.File, port int, err error) {
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, 0, err
	}
	defer l.Close()
	raw, err := l.SyscallConn()
	if err != nil {
		return nil, 0, err
	}
	// Accepted connections inherit it. Without, ministack answers 44 ms late.
	var optErr error
	err = raw.Control(func(fd uintptr) {
		optErr = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	})
	if err := errors.Join(err, optErr); err != nil {
		return nil, 0, err
	}
	socket, err = l.File()
	return socket, l.Addr().(*net.TCPAddr).Port, err
}

// healthy waits for the first answer. A connection to an emulator that died while
// starting is reset, so there is nothing to poll for.
func healthy(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	return nil
}

// stop ends the emulator and all its children, and waits for it.
func (e *emulator) stop() {
	if e.cmd == nil {
		return
	}
	_ = e.life.Close()                                                                                    // it removes its files and kills itself and its children
	slow := time.AfterFunc(stopTimeout, func() { _ = syscall.Kill(-e.cmd.Process.Pid, syscall.SIGKILL) }) // it keeps nothing that could be lost
	_ = e.cmd.Wait()                                                                                      // says "killed"
	slow.Stop()
	e.cmd = nil
}
