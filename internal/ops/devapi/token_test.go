package devapi_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/internal/ops/devapi"
)

func tokenFile(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "cronfence", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("token files: %v, %v", files, err)
	}
	return files[0]
}

func readToken(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(tokenFile(t))
	if err != nil {
		t.Fatal(err)
	}
	token, _, _ := strings.Cut(string(b), "\n")
	return token
}

// A server that is killed takes nothing away; the next one does, whatever its port.
func TestTokensOfDeadProcessesAreSweptAndOthersStay(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	dir := filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "cronfence")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	dead := exec.Command(os.Args[0], "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"dev-1.token": fmt.Sprintf("DEAD\n%d\n", dead.Process.Pid),
		"dev-2.token": fmt.Sprintf("ALIVE\n%d\n", os.Getppid()),
		"dev-3.token": "NOBODY KNOWS\n",
		"dev-4.other": fmt.Sprintf("NO TOKEN\n%d\n", dead.Process.Pid),
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := devapi.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.LeaveToken(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	delete(files, "dev-1.token")
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		if _, stays := files[f.Name()]; !stays {
			t.Errorf("%s is left", f.Name())
		}
	}
	if len(left) != len(files) {
		t.Errorf("%d files are left, want %d", len(left), len(files))
	}
}

func TestTheTokenIsItsUsersAloneAndGoesWithTheServer(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	s, err := devapi.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.LeaveToken(); err != nil {
		t.Fatal(err)
	}
	name := tokenFile(t)
	for path, want := range map[string]os.FileMode{name: 0o600, filepath.Dir(name): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Errorf("the token is left behind: %v", err)
	}
}

func TestASecondServerOnAPortSaysSo(t *testing.T) {
	s, _, _ := serve(t)
	before := readToken(t)
	_, err := devapi.Listen(t.Context(), strings.TrimPrefix(s.URL(), "http://"))
	var inUse *devapi.InUseError
	if !errors.As(err, &inUse) {
		t.Errorf("got %v", err)
	}
	if readToken(t) != before {
		t.Error("the second server replaced the first one's token")
	}
}
