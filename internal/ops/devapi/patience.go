package devapi

import (
	"net/http"
	"time"
)

// writeTimeout is how long a client may leave a piece of an answer unread. It is for a piece and
// not for the whole: a long history is streamed for as long as somebody reads it.
const writeTimeout = time.Minute

// patient ends the answer to a client that has stopped reading.
type patient struct{ next http.Handler }

// ServeHTTP lets every write begin with the whole timeout, and so what the server writes after
// the handler's end.
func (p patient) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	pw := patientWriter{w, http.NewResponseController(w)}
	defer pw.extend()
	p.next.ServeHTTP(pw, r)
}

type patientWriter struct {
	http.ResponseWriter
	controller *http.ResponseController
}

func (w patientWriter) extend() { _ = w.controller.SetWriteDeadline(time.Now().Add(writeTimeout)) }

func (w patientWriter) Write(b []byte) (int, error) {
	w.extend()
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w patientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
