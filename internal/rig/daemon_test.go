package rig

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestServersAcceptOnTheirSocketsAlone(t *testing.T) {
	for _, d := range daemons {
		t.Run(d.name, func(t *testing.T) {
			began := time.Now()
			dir := d.folder(t)
			t.Logf("started in %v", time.Since(began))
			conn, err := new(net.Dialer).DialContext(t.Context(), "unix", filepath.Join(dir, d.socket))
			if err != nil {
				t.Fatal(err)
			}
			conn.Close()
		})
	}
}

// daemonChildMain starts a server, says where, and waits to be killed.
func daemonChildMain(name string) {
	for _, d := range daemons {
		if d.name != name {
			continue
		}
		if err := d.start(); err != nil {
			println("child:", err.Error())
			os.Exit(1)
		}
		fmt.Println(d.dir)
	}
	select {}
}

func TestAServerEndsWithTheProcessThatStartedIt(t *testing.T) {
	for _, d := range daemons {
		t.Run(d.name, func(t *testing.T) {
			d.folder(t) // skips where it is not installed
			child := exec.CommandContext(t.Context(), os.Args[0])
			child.Env = append(os.Environ(), "RIG_DAEMON="+d.name)
			child.Stderr = os.Stderr
			out, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatalf("read the server's folder: %v", err)
			}
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = child.Wait() // says "killed"
			gone(t, strings.TrimSpace(line))
		})
	}
}

// gone waits until a server's folder is gone, which is the last thing its keeper does.
func gone(t *testing.T, dir string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is still there", dir)
		}
	}
}
