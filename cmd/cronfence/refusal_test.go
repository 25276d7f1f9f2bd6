package main

import (
	"net"
	"strings"
	"testing"
)

// What serves a page writes a document too when it cannot.
func TestDevAndUIThatFailWriteADocument(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	for _, tt := range []struct{ line, want string }{
		{"dev --json --listen " + taken.Addr().String(), "the port is taken"},
		{"dev --json --assembly " + t.TempDir(), "no manifest.json there"},
		{"ui --json", "Region"},
	} {
		for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"} {
			t.Setenv(name, "")
		}
		t.Setenv("AWS_CONFIG_FILE", "/dev/null")
		t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
		if f := document[failure](t, tt.line, 1); f.Kind != "failed" || !strings.Contains(f.Message, tt.want) {
			t.Errorf("%s: %+v, want %q", tt.line, f, tt.want)
		}
	}
}
