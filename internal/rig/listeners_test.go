package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEmulatorsListenOnLoopbackOnly(t *testing.T) {
	if _, err := os.Stat("/proc/net/tcp"); err != nil {
		t.Skip(err)
	}
	Moto(t)
	Ministack(t)
	for _, e := range []*emulator{moto, ministack} {
		found := listeners(t, e.cmd.Process.Pid)
		_, port, _ := strings.Cut(strings.TrimPrefix(e.url, "http://"), ":")
		if fmt.Sprint(found) != "[127.0.0.1:"+port+"]" {
			t.Errorf("%s at %s listens on %v", e.name, e.url, found)
		}
	}
}

// listeners are the addresses that a process accepts TCP connections on.
func listeners(t *testing.T, pid int) (found []string) {
	t.Helper()
	descriptors, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil || len(descriptors) == 0 {
		t.Fatalf("descriptors of process %d: %v", pid, err)
	}
	ours := map[string]bool{}
	for _, d := range descriptors {
		if target, err := os.Readlink(d); err == nil { // it may have been closed since
			ours[target] = true
		}
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(table)
		if err != nil {
			continue // no such protocol here
		}
		for line := range strings.Lines(string(text)) {
			const listening = "0A"
			f := strings.Fields(line)
			if len(f) < 10 || f[3] != listening || !ours["socket:["+f[9]+"]"] {
				continue
			}
			var a, b, c, d, port int
			if _, err := fmt.Sscanf(f[1], "%02X%02X%02X%02X:%04X", &d, &c, &b, &a, &port); err != nil {
				t.Fatalf("read address %q: %v", f[1], err)
			}
			found = append(found, fmt.Sprintf("%d.%d.%d.%d:%d", a, b, c, d, port))
		}
	}
	return found
}
