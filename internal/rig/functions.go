package rig

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
)

// Function answers an invocation with JSON, or with the name of an error and its message.
type Function func(ctx context.Context, payload []byte) (answer []byte, errorType, message string)

// functions is the Lambda endpoint of moto-steps.
var functions struct {
	mu     sync.Mutex
	byName map[string]Function
	server *http.Server
}

// Handle makes a function known to the state machines of MotoSteps.
func Handle(name string, f Function) {
	functions.mu.Lock()
	defer functions.mu.Unlock()
	if functions.byName == nil {
		functions.byName = map[string]Function{}
	}
	functions.byName[name] = f
}

func serveFunctions() ([]string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /2015-03-31/functions/{name}/invocations", serveInvocation)
	functions.server = &http.Server{Handler: mux}
	go func() { _ = functions.server.Serve(listener) }() // ends with ErrServerClosed
	return []string{"LAMBDA_ENDPOINT=http://" + listener.Addr().String()}, nil
}

func stopFunctions() {
	if functions.server != nil {
		_ = functions.server.Close()
	}
}

func serveInvocation(w http.ResponseWriter, r *http.Request) {
	functions.mu.Lock()
	f := functions.byName[r.PathValue("name")]
	functions.mu.Unlock()
	payload, err := io.ReadAll(r.Body)
	if err != nil || f == nil {
		w.Header().Set("X-Amzn-ErrorType", "ResourceNotFoundException")
		http.Error(w, fmt.Sprintf(`{"Message":"Function not found: %s"}`, r.PathValue("name")), http.StatusNotFound)
		return
	}
	answer, errorType, message := f(r.Context(), payload)
	w.Header().Set("X-Amz-Executed-Version", "$LATEST")
	if errorType != "" {
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		answer = fmt.Appendf(nil, `{"errorMessage":%q,"errorType":%q}`, message, errorType)
	}
	_, _ = w.Write(answer)
}
