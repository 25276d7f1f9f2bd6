//go:build !unix

package process

import (
	"os"
	"os/exec"
)

// Without process groups and SIGTERM a stop is the end of the one process.
var (
	terminate = os.Kill
	kill      = os.Kill
)

func ownGroup(*exec.Cmd) {}

func signalGroup(cmd *exec.Cmd, s os.Signal) error { return cmd.Process.Signal(s) }
