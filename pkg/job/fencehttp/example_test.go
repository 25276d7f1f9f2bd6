package fencehttp_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/fencehttp"
)

func Example() {
	// The service.
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "done") })
	server := httptest.NewServer(fencehttp.Require(fencehttp.NewMemory(), handler))
	defer server.Close()

	// Two runs of the job; the older one wakes up late.
	send := func(run job.Run) error {
		client := &http.Client{Transport: &fencehttp.Transport{Run: run}}
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, server.URL, http.NoBody)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
	if err := send(job.Run{Scheduler: "shop", Job: "cleanup", Fence: 8}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(errors.Is(send(job.Run{Scheduler: "shop", Job: "cleanup", Fence: 7}), job.ErrFenced))
	// Output: true
}
