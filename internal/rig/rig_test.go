package rig

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

func TestMain(m *testing.M) {
	if os.Getenv("RIG_CHILD") != "" {
		childMain()
	}
	if name := os.Getenv("RIG_DAEMON"); name != "" {
		daemonChildMain(name)
	}
	os.Exit(Run(m))
}

// childMain starts an emulator, says where, and waits to be killed.
func childMain() {
	python, err := venvPython()
	if err == nil {
		err = moto.start(python)
	}
	if err != nil {
		println("child:", err.Error())
		os.Exit(1)
	}
	fmt.Println(moto.url)
	select {}
}

func TestEveryEmulatorServesTablesAndCountsRequests(t *testing.T) {
	for name, start := range map[string]func(testing.TB) Cloud{"moto": Moto, "ministack": Ministack} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			c := start(t)
			t.Logf("started in %v", time.Since(began))
			table := c.Table(t)
			if n := c.Requests.Total(); n != 0 {
				t.Errorf("making the table counts %d requests, want 0", n)
			}
			client := dynamodb.NewFromConfig(c.Config)
			began = time.Now()
			for range 10 {
				if _, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table}); err != nil {
					t.Fatal(err)
				}
			}
			each := time.Since(began) / 10
			t.Logf("one request: %v", each)
			if got := c.Requests.Counts()["Scan"]; got != 10 {
				t.Errorf("counted %d scans, want 10", got)
			}
		})
	}
}

func TestRetriesCount(t *testing.T) {
	c := Moto(t)
	table := c.Table(t)
	failures := 2
	c.Requests.Around(func(_ string, send Send) (*http.Response, error) {
		if failures > 0 {
			failures--
			return AWSError(500, "InternalServerError", ""), nil
		}
		return send()
	})
	client := dynamodb.NewFromConfig(c.Config)
	if _, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table}); err != nil {
		t.Fatal(err)
	}
	if got := c.Requests.Counts()["Scan"]; got != 3 {
		t.Errorf("counted %d scans, want 3", got)
	}
}

func TestAnEmulatorEndsWithTheProcessThatStartedIt(t *testing.T) {
	Moto(t) // skips where nothing is installed
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), "RIG_CHILD=1")
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
		t.Fatalf("read the emulator's address: %v", err)
	}
	address := strings.TrimPrefix(strings.TrimSpace(line), "http://")
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // says "killed"

	deadline := time.Now().Add(10 * time.Second)
	for {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return
		}
		if err == nil {
			conn.Close()
		}
		if time.Now().After(deadline) {
			t.Fatalf("somebody still listens on %s: %v", address, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
