//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// devProcess runs `cronfence dev` as a process of its own, with a command that has a child.
type devProcess struct {
	cmd            *exec.Cmd
	out            io.ReadCloser // its output; errors go to the file errors
	errors, remain string        // what it may leave, it leaves in the directory remain
	pids           []int         // of the command and its child
}

func startDevProcess(t *testing.T, flags ...string) *devProcess {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := &devProcess{errors: filepath.Join(dir, "errors"), remain: filepath.Join(dir, "remain")}
	if err := os.Mkdir(p.remain, 0o700); err != nil {
		t.Fatal(err)
	}
	pids := filepath.Join(dir, "pids")
	// Due every minute; at this speed every 0.6 s.
	p.cmd = exec.Command(self, append([]string{
		"dev", "--listen", "127.0.0.1:0", "--speed", "100",
		"--exec", "cleanup=sleep 600 & echo $$ $! > " + pids + "; while :; do echo working; sleep 0.01; done",
	}, flags...)...)
	p.cmd.Env = append(os.Environ(), asCommand+"=1", "XDG_RUNTIME_DIR="+p.remain, "TMPDIR="+p.remain)
	errors, err := os.Create(p.errors)
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = errors
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = errors.Close()
	t.Cleanup(func() { // of a test that failed
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		for _, pid := range p.pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	for range 2000 {
		text, _ := os.ReadFile(pids)
		if fields := strings.Fields(string(text)); len(fields) == 2 && strings.HasSuffix(string(text), "\n") {
			for _, f := range fields {
				pid, err := strconv.Atoi(f)
				if err != nil {
					t.Fatal(err)
				}
				p.pids = append(p.pids, pid)
			}
			return p
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the command did not start")
	return nil
}

// ended waits for the end and checks that nothing is left.
func (p *devProcess) ended(t *testing.T) (code int, errOut string) {
	t.Helper()
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	for _, pid := range p.pids {
		if alive(pid) {
			t.Errorf("process %d is left behind", pid)
		}
	}
	err = filepath.WalkDir(p.remain, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			err = fmt.Errorf("%s is left behind", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(p.errors)
	if err != nil {
		t.Error(err)
	}
	return p.cmd.ProcessState.ExitCode(), string(text)
}

// alive waits a little for whoever inherits a killed process to collect it.
func alive(pid int) bool {
	for range 100 {
		if syscall.Kill(pid, 0) != nil {
			return false
		}
		if stat, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat")); strings.Contains(string(stat), ") Z ") {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

func TestASignalLeavesNothingBehind(t *testing.T) {
	for _, sent := range []os.Signal{os.Interrupt, syscall.SIGQUIT} {
		p := startDevProcess(t)
		if err := p.cmd.Process.Signal(sent); err != nil {
			t.Fatal(err)
		}
		out, err := io.ReadAll(p.out)
		if err != nil {
			t.Fatal(err)
		}
		if code, errOut := p.ended(t); code != 0 || !strings.Contains(string(out), "ended early: runs in flight") {
			t.Errorf("%v: code %d\n%s%s", sent, code, out, errOut)
		}
	}
}

// As in `cronfence dev | head -1`. The command's own output is on standard error.
func TestAReaderThatGoesAwayLeavesNothingBehind(t *testing.T) {
	p := startDevProcess(t, "--fault", "twice by 1s for 1h") // which writes a line a tick
	if _, err := bufio.NewReader(p.out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	_ = p.out.Close()
	if code, errOut := p.ended(t); code != 1 || !strings.HasSuffix(errOut, "cronfence: ended early: nobody reads the output any more\n") {
		t.Errorf("code %d\n%s", code, errOut)
	}
}
