package rig

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

//go:embed daemon.sh
var keeper string

// daemon is a database server of Debian's that this test binary started, or has yet to
// start. It listens on a Unix socket in a folder of its own and nowhere else, and trusts
// whoever can reach that.
type daemon struct {
	name    string
	program string // what has to be there
	debian  string // the package that has it
	user    string // whom to run it as when we are root: the servers refuse root
	signal  string // what ends it at once and leaves nothing behind
	socket  string // in its folder
	script  string // makes what it needs in its folder and becomes the server
	// ready, if set, tells whether a server that accepts connections serves them too.
	ready func(dir string) bool

	once sync.Once
	err  error
	dir  string
	life *os.File      // the server lives until this is closed
	done chan struct{} // closed when it has ended and its folder is gone
}

var daemons = []*daemon{postgres, mariadb, redisServer}

// serverPath is where programs are: Debian keeps servers where users do not look.
func serverPath() string {
	extra, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is well formed
	return strings.Join(append([]string{os.Getenv("PATH"), "/usr/sbin"}, extra...), string(os.PathListSeparator))
}

// folder starts the server at first use and returns its folder. Where its program is
// missing the test is skipped, but fails in CI: there a skip would pass for a test.
func (d *daemon) folder(t testing.TB) string {
	t.Helper()
	if !installed(d.program) {
		const msg = "%s is not installed: apt-get install %s"
		if os.Getenv("CI") != "" {
			t.Fatalf(msg, d.program, d.debian)
		}
		t.Skipf(msg, d.program, d.debian)
	}
	d.once.Do(func() { d.err = d.start() })
	if d.err != nil {
		t.Fatalf("start %s: %v", d.name, d.err)
	}
	return d.dir
}

func installed(program string) bool {
	for _, dir := range filepath.SplitList(serverPath()) {
		if _, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return true
		}
	}
	return false
}

func (d *daemon) start() error {
	who, err := d.credential()
	if err != nil {
		return err
	}
	if d.dir, err = os.MkdirTemp("", "cronfence-"+d.name+"-*"); err != nil {
		return err
	}
	if who != nil {
		if err := os.Chown(d.dir, int(who.Uid), int(who.Gid)); err != nil {
			return err
		}
	}
	log, err := os.CreateTemp("", "cronfence-"+d.name+"-*.log")
	if err != nil {
		return err
	}
	defer log.Close()
	defer os.Remove(log.Name()) // it stays readable through log
	if err := d.run(who, log); err != nil {
		d.stop()
		os.RemoveAll(d.dir)
		out, _ := io.ReadAll(io.NewSectionReader(log, 0, 16<<10))
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// credential is whom to run the server as, or nil for ourselves.
func (d *daemon) credential() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup(d.user)
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}

func (d *daemon) run(who *syscall.Credential, log *os.File) error {
	theirEnd, ourEnd, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirEnd.Close()
	// No context: it outlives the test that starts it.
	cmd := exec.Command("bash", "-c", keeper, "cronfence-"+d.name, d.signal, d.script)
	cmd.Dir = d.dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirEnd, log, log
	cmd.Env = append(os.Environ(), "HOME="+d.dir, "PATH="+serverPath(), "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: who}
	if err := cmd.Start(); err != nil {
		ourEnd.Close()
		return err
	}
	d.life, d.done = ourEnd, make(chan struct{})
	go func() {
		_ = cmd.Wait() // that it ended is all there is to know
		close(d.done)
	}()
	return d.accepting()
}

// accepting waits until somebody can connect and is served, or the server has died.
func (d *daemon) accepting() error {
	deadline := time.Now().Add(startTimeout)
	for {
		conn, err := new(net.Dialer).DialContext(context.Background(), "unix", filepath.Join(d.dir, d.socket))
		if err == nil {
			conn.Close()
			if d.ready == nil || d.ready(d.dir) {
				return nil
			}
			err = errors.New("it accepts connections and does not serve them")
		}
		select {
		case <-d.done:
			return errors.New("it ended while starting")
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return err
		}
	}
}

// stop ends the server and waits until its folder is gone.
func (d *daemon) stop() {
	if d.life == nil {
		return
	}
	_ = d.life.Close()
	<-d.done
	d.life = nil
}

func stopDaemons() {
	for _, d := range daemons {
		d.stop()
	}
}
