package devapi

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tokenFile is where a server on a port leaves its token: in the user's runtime directory
// where there is one, which ends with the session, else in their cache directory.
func tokenFile(port int) (string, error) {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		var err error
		if dir, err = os.UserCacheDir(); err != nil {
			return "", fmt.Errorf("find a directory for the token: %w", err)
		}
	}
	return filepath.Join(dir, "cronfence", fmt.Sprintf("dev-%d.token", port)), nil
}

// leaveToken writes the token for its user alone. It replaces one that a server on the same
// port left when it was killed.
func leaveToken(port int, token string) (string, error) {
	name, err := tokenFile(port)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return "", fmt.Errorf("make the token's directory: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(name), "token") // readable by its user alone
	if err != nil {
		return "", fmt.Errorf("leave token: %w", err)
	}
	_, err = f.WriteString(token + "\n")
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

// removeToken takes the token away, unless it is another server's by now.
func removeToken(name, token string) {
	if b, err := os.ReadFile(name); err == nil && strings.TrimSpace(string(b)) == token {
		_ = os.Remove(name)
	}
}

// readToken finds the token of the server on a port.
func readToken(port int) (string, error) {
	name, err := tokenFile(port)
	if err != nil {
		return "", err
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("read the token of `cronfence dev`, which only the user who started it can: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}
