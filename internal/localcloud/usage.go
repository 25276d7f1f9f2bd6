package localcloud

import (
	"io"
	"strings"
	"sync/atomic"

	"github.com/cronfence/cronfence/internal/localcloud/asl"
	"github.com/cronfence/cronfence/internal/localcloud/assembly"
)

// Usage is what the local cloud did of what AWS bills.
type Usage struct {
	// Transitions are those of all state machines: states entered, and tasks tried again.
	Transitions int64 `json:"transitions"`
	// Functions are Cronfence's own, by name: dispatcher, heartbeat, settler, sentinel.
	Functions map[string]FunctionUsage `json:"functions"`
}

// FunctionUsage is the part of one function.
type FunctionUsage struct {
	Invocations int64 `json:"invocations"`
	Requests    int64 `json:"requests"` // to the table
	LogBytes    int64 `json:"logBytes"` // of its own lines
}

// meter counts one function's.
type meter struct{ invocations, requests, logBytes atomic.Int64 }

// meters count what is used.
type meters struct {
	transitions atomic.Int64
	functions   map[string]*meter // by name; made before anything runs
}

// of returns the meter of a function of this repository, or nil.
func (m *meters) of(f assembly.Function) *meter {
	name, ours := strings.CutPrefix(f.GoPackage, guardPackages)
	if !ours {
		return nil
	}
	if m.functions[name] == nil {
		m.functions[name] = &meter{}
	}
	return m.functions[name]
}

// entered counts the state transitions of an execution.
func (m *meters) entered(e asl.Event) {
	if strings.HasSuffix(e.Type, "StateEntered") || strings.HasSuffix(e.Type, "Scheduled") && e.Attempt > 1 {
		m.transitions.Add(1)
	}
}

func (m *meters) usage() Usage {
	u := Usage{Transitions: m.transitions.Load(), Functions: map[string]FunctionUsage{}}
	for name, f := range m.functions {
		u.Functions[name] = FunctionUsage{f.invocations.Load(), f.requests.Load(), f.logBytes.Load()}
	}
	return u
}

// measured counts what is written through it.
type measured struct {
	io.Writer
	bytes *atomic.Int64
}

func (w measured) Write(p []byte) (int, error) {
	w.bytes.Add(int64(len(p)))
	return w.Writer.Write(p)
}
