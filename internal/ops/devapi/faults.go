package devapi

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/cronfence/cronfence/internal/localcloud/fault"
)

// faultRoutes answers over the faults of a local cloud.
func faultRoutes(mux *http.ServeMux, f Faults) {
	mux.HandleFunc("GET "+faultsPath, func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, faults{Kinds: fault.Catalog, Functions: fault.Functions, Faults: f.Entries()})
	})
	mux.HandleFunc("POST "+faultsPath, func(w http.ResponseWriter, r *http.Request) {
		asked, err := readBody[fault.Fault](r)
		if err != nil {
			writeError(w, err)
			return
		}
		answerFault(w)(f.Add(asked))
	})
	mux.HandleFunc("DELETE "+faultsPath+"/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(r.PathValue("id"))
		if err != nil {
			writeError(w, badRequest{fmt.Errorf("fault %q: must be the number of one", r.PathValue("id"))})
			return
		}
		answerFault(w)(f.End(id))
	})
}

// answerFault writes a fault, or why there is none: that is the asker's.
func answerFault(w http.ResponseWriter) func(e fault.Entry, err error) {
	return func(e fault.Entry, err error) {
		if err != nil {
			writeError(w, badRequest{err})
			return
		}
		writeJSON(w, http.StatusOK, e)
	}
}
