package process

import (
	"bytes"
	"io"
)

// lineWriter passes whole lines on, each with a prefix, so that the output of commands
// running side by side stays readable.
type lineWriter struct {
	out    io.Writer
	prefix string
	rest   []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		i := bytes.IndexByte(w.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		if err := w.line(w.rest[:i+1]); err != nil {
			return 0, err
		}
		w.rest = w.rest[i+1:]
	}
}

func (w *lineWriter) line(b []byte) error {
	_, err := w.out.Write(append([]byte(w.prefix), b...))
	return err
}

// flush passes on a last line that has no end.
func (w *lineWriter) flush() {
	if len(w.rest) > 0 {
		_ = w.line(append(w.rest, '\n'))
		w.rest = nil
	}
}
