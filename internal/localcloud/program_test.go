//go:build linux

package localcloud_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"go.uber.org/goleak"

	"github.com/cronfence/cronfence/internal/localcloud"
	"github.com/cronfence/cronfence/internal/localcloud/example"
	"github.com/cronfence/cronfence/internal/localcloud/fault"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// TestMain is also the bootstrap of the users' functions, and their command, in these tests.
func TestMain(m *testing.M) {
	if os.Getenv("USERS_FUNCTION") != "" {
		lambda.Start(usersFunction)
	}
	if os.Getenv("AUTHORS_JOB") != "" {
		authorsJob()
		return
	}
	goleak.VerifyTestMain(m)
}

func usersFunction(ctx context.Context, run schema.RunObject) error {
	fmt.Println("working on", run.Run, "with", os.Getenv("AWS_ACCESS_KEY_ID"), "in", os.Getenv("AWS_LAMBDA_FUNCTION_NAME"))
	if os.Getenv("USERS_FUNCTION") == "deaf" {
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("pid", os.Getpid())
		select {}
	}
	return nil
}

// built is an assembly on disk in which the cleanup's function is the user's own.
func built(t *testing.T, kind, bootstrap string) localcloud.Config {
	t.Helper()
	dir := t.TempDir()
	fsys := exampleWith(t, func(resources map[string]any) {
		for _, r := range resources {
			r := r.(map[string]any)
			metadata, _ := r["Metadata"].(map[string]any)
			if metadata["cronfence:go-package"] != "github.com/cronfence/cronfence/infra/app/jobs/cleanup" {
				continue
			}
			delete(r, "Metadata")
			p := r["Properties"].(map[string]any)
			p["Code"] = map[string]any{"S3Bucket": "b", "S3Key": "abc.zip"}
			p["Environment"] = map[string]any{"Variables": map[string]any{"USERS_FUNCTION": kind}}
		}
	})
	var manifest map[string]any
	decode(t, fsys["manifest.json"].Data, &manifest)
	manifest["artifacts"].(map[string]any)["CronfenceExample.assets"] = map[string]any{
		"type": "cdk:asset-manifest", "properties": map[string]any{"file": "assets.json"},
	}
	text, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"manifest.json": text, "CronfenceExample.template.json": fsys["CronfenceExample.template.json"].Data,
		"assets.json": []byte(`{"files":{"abc":{"source":{"path":"asset.abc"}}}}`), "asset.abc/bootstrap": []byte(bootstrap),
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return localcloud.Config{Assembly: os.DirFS(dir), Directory: dir, Start: start, For: 30 * time.Second}
}

func selfAsBootstrap(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return "#!/bin/sh\nexec " + self + "\n"
}

func TestTheUsersFunctionRunsAsBuilt(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "the caller's")
	t.Setenv("AWS_ENDPOINT_URL", "") // as if it were not set
	var log buffer
	c := built(t, "works", selfAsBootstrap(t))
	c.Speed, c.Log, c.Out = 30, &log, &log
	cloud, err := localcloud.New(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := cloud.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := jobOf(t, r, "cleanup"); got.Succeeded != 1 || got.MaxConcurrent != 1 || len(r.Problems) > 0 {
		t.Errorf("got %+v, problems %q", got, r.Problems)
	}
	if want := "working on cleanup-20260907T103000Z-1 with local in CronfenceExample-"; !strings.Contains(log.String(), want) {
		t.Errorf("log\n%s\nwant %s", log.String(), want)
	}
}

func TestCtrlCEndsTheUsersFunction(t *testing.T) {
	var log buffer
	c := built(t, "deaf", selfAsBootstrap(t))
	c.Speed, c.For, c.Log, c.Out = 30, 0, &log, &log
	cloud, err := localcloud.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for range 1000 {
			if strings.Contains(log.String(), "pid ") {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	if _, err := cloud.Run(ctx); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(log.String(), "pid ")
	pid, err := strconv.Atoi(strings.Fields(rest + " none")[0])
	if err != nil {
		t.Fatalf("the function did not start:\n%s", log.String())
	}
	if alive(pid) {
		t.Errorf("process %d is left behind", pid)
	}
}

// What is killed has no time to do anything about it: neither a function as built nor a command.
func TestAKilledProcessDiesAtOnce(t *testing.T) {
	for name, make := range map[string]func(t *testing.T) localcloud.Config{
		"function": func(t *testing.T) localcloud.Config { return built(t, "deaf", selfAsBootstrap(t)) },
		"command": func(*testing.T) localcloud.Config {
			return localcloud.Config{
				Assembly: example.Assembly, Start: start, For: 30 * time.Second,
				Exec: map[string]string{"cleanup": `trap "" TERM; echo pid $$; sleep 600`},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var log buffer
			c := make(t)
			c.Speed, c.Log, c.Out = 30, &log, &log
			cloud, err := localcloud.New(c)
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				for range 1000 {
					if strings.Contains(log.String(), "pid ") {
						break
					}
					time.Sleep(10 * time.Millisecond)
				}
				_, _ = cloud.Faults().Add(fault.Fault{Kind: fault.Kill, Job: "cleanup"}) // counted below
			}()
			r, err := cloud.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			_, rest, _ := strings.Cut(log.String(), "pid ")
			pid, err := strconv.Atoi(strings.Fields(rest + " none")[0])
			if err != nil || alive(pid) {
				t.Errorf("process %d is left behind: %v", pid, err)
			}
			if j := jobOf(t, r, "cleanup"); j.Failed != 1 || len(r.Problems) > 0 || len(r.Faults) != 1 || r.Faults[0].Count != 1 || j.LongestRunSeconds > 290 {
				t.Errorf("got %+v, faults %+v, problems %q\n%s", j, r.Faults, r.Problems, log.String())
			}
		})
	}
}

func TestAFunctionForAnotherProcessorIsNamed(t *testing.T) {
	elf := "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x02\x00\xf3\x00\x01" + strings.Repeat("\x00", 100) // RISC-V
	c := built(t, "works", elf)
	c.Speed, c.Log = 1, &buffer{}
	cloud, err := localcloud.New(c)
	if err != nil {
		t.Fatal(err)
	}
	defer cloud.Close()
	if notices := strings.Join(cloud.Notices(), "\n"); !strings.Contains(notices, "it is built for EM_RISCV") || !strings.Contains(notices, "--exec") {
		t.Errorf("notices %q", notices)
	}
}
