package localcloud

import (
	"strings"
	"testing"
	"time"
)

func TestNoticeIsShown(t *testing.T) {
	var out strings.Builder
	j := &journal{out: &out, now: func() time.Time { return time.Date(2026, 9, 14, 6, 0, 0, 0, time.UTC) }}
	if err := j.Notify(t.Context(), "the week", "one\n\ntwo\n"); err != nil {
		t.Fatal(err)
	}
	if want := "06:00:00  NOTICE    the week\n06:00:00            one\n06:00:00            two\n"; out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
