package devapi

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// tokenDir is where servers leave their tokens: in the user's runtime directory where there is
// one, which ends with the session, else in their cache directory.
func tokenDir() (string, error) {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		var err error
		if dir, err = os.UserCacheDir(); err != nil {
			return "", fmt.Errorf("find a directory for the token: %w", err)
		}
	}
	return filepath.Join(dir, "cronfence"), nil
}

// tokenName is the file of the server on a port. Its first line is the token, its second the
// number of the server's process.
func tokenName(dir string, port int) string {
	return filepath.Join(dir, fmt.Sprintf("dev-%d.token", port))
}

// leaveToken writes the token for its user alone. It replaces one that a server on the same
// port left when it was killed, and removes those that killed servers left on other ports.
func leaveToken(port int, token string) (string, error) {
	dir, err := tokenDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the token's directory: %w", err)
	}
	sweepTokens(dir)
	f, err := os.CreateTemp(dir, "token") // readable by its user alone
	if err != nil {
		return "", fmt.Errorf("leave token: %w", err)
	}
	name := tokenName(dir, port)
	_, err = fmt.Fprintf(f, "%s\n%d\n", token, os.Getpid())
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("leave token: %w", err)
	}
	return name, nil
}

// sweepTokens removes the tokens of servers whose process is no more. What it cannot read it
// leaves.
func sweepTokens(dir string) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, f := range files {
		name := filepath.Join(dir, f.Name())
		if filepath.Ext(name) != ".token" {
			continue
		}
		if token, pid, err := readTokenFile(name); err == nil && pid > 0 && ended(pid) {
			removeToken(name, token)
		}
	}
}

// ended tells whether there is no process of this number. In doubt there is one.
func ended(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return true // as Windows answers
	}
	defer func() { _ = p.Release() }()
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// removeToken takes the token away, unless it is another server's by now.
func removeToken(name, token string) {
	if now, _, err := readTokenFile(name); err == nil && now == token {
		_ = os.Remove(name)
	}
}

// readToken finds the token of the server on a port.
func readToken(port int) (string, error) {
	dir, err := tokenDir()
	if err != nil {
		return "", err
	}
	token, _, err := readTokenFile(tokenName(dir, port))
	if err != nil {
		return "", fmt.Errorf("read the token of `cronfence dev`, which only the user who started it can: %w", err)
	}
	return token, nil
}

// readTokenFile reads a token and its server's process; 0 where that is not known.
func readTokenFile(name string) (token string, pid int, err error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return "", 0, err
	}
	token, number, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	pid, _ = strconv.Atoi(number)
	return token, pid, nil
}
