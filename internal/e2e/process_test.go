package e2e

import (
	"os/exec"
	"syscall"
	"time"
)

// endsWithItsChildren makes the end of the command's context that of its children too.
func endsWithItsChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second // for what still holds its output
}
