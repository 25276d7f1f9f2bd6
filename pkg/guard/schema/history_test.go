package schema_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func TestHistoryOfALongRunFits(t *testing.T) {
	for _, c := range []struct {
		maxRun, renewal time.Duration
		fits            string // the renewal that the refusal names; empty when it fits
	}{
		{24 * time.Hour, time.Minute, ""},
		{48 * time.Hour, time.Minute, "1m1s"},
		{12 * time.Hour, 15 * time.Second, "16s"},
		{15 * time.Minute, 30 * time.Second, ""},
		{schema.MaxDuration, 30 * time.Second, "3h4m10s"},
	} {
		lease := max(schema.DefaultLease, schema.MinLease(c.renewal))
		err := schema.CheckTimes(c.maxRun, lease, c.renewal, 0)
		if c.fits == "" {
			if err != nil {
				t.Errorf("%v with a beat every %v: %v", c.maxRun, c.renewal, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "a renewal of "+c.fits+" or more") {
			t.Errorf("%v with a beat every %v: %v: want a refusal that names %s", c.maxRun, c.renewal, err, c.fits)
			continue
		}
		fits, _ := time.ParseDuration(c.fits)
		if err := schema.CheckTimes(c.maxRun, max(lease, schema.MinLease(fits)), fits, 0); err != nil {
			t.Errorf("the renewal that the refusal names is refused: %v", err)
		}
		shorter := fits - time.Second
		if schema.CheckTimes(c.maxRun, max(lease, schema.MinLease(shorter)), shorter, 0) == nil {
			t.Errorf("%v: a renewal of %v fits too: %s is not the smallest", c.maxRun, shorter, c.fits)
		}
	}
}

func TestTimesThatNoJobCanHaveAreRefused(t *testing.T) {
	for want, err := range map[string]error{
		"lease 1m0s: must be at least 1m55s":         schema.CheckTimes(time.Hour, time.Minute, 30*time.Second, 0),
		"move parts of the chain":                    schema.CheckTimes(time.Hour, 2*time.Minute, 30*time.Second, schema.HistoryLimit),
		"maximum run time 1.5s: must be whole":       schema.CheckDuration("maximum run time", 1500*time.Millisecond, time.Hour),
		"lease -1s: must be whole seconds, up to":    schema.CheckDuration("lease", -time.Second, time.Hour),
		"lease 8760h0m1s: must be whole seconds, up": schema.CheckDuration("lease", schema.MaxDuration+time.Second, time.Hour),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
	if err := schema.CheckTimes(time.Hour, 0, 0, 0); err != nil {
		t.Errorf("no beats: %v", err)
	}
}

func TestMachineOutlivesItsRun(t *testing.T) {
	if got, want := schema.MachineTimeout(time.Hour, 0, 0), time.Hour+schema.MachineSlack; got != want {
		t.Errorf("without beats %v, want %v", got, want)
	}
	if got, want := schema.MachineTimeout(time.Hour, 2*time.Minute, 30*time.Second), time.Hour+schema.MachineSlack+80*time.Second; got != want {
		t.Errorf("with beats %v, want %v: it may start until 80 s behind its guard", got, want)
	}
}

// The numbers of a refusal are those of the next try.
func TestRefusalsSayWhatWouldFit(t *testing.T) {
	const besides, perBeat = 18, 7
	run := 2*time.Hour - schema.MachineSlack - 80*time.Second // its machine lasts two hours: 240 beats
	for want, err := range map[string]error{
		"lease 1m0s: must be at least 1m55s with a renewal of 30s, or 1h1m15s to do without beats":                                         schema.CheckTimes(time.Hour, time.Minute, 30*time.Second, 0),
		"target: could write 19983 events of history, its retries included, and 19975 are allowed: ":                                       schema.CheckTimes(time.Hour, 0, 0, schema.HistoryLimit-besides+1),
		"could write 20001 events of history, and 20000 are allowed: a renewal of 31s or more fits":                                        schema.CheckTimes(run, 2*time.Minute, 30*time.Second, schema.HistoryLimit-besides-perBeat*240+1),
		"could write 21673 events of history, and 20000 are allowed: a renewal of 1h59m55s or more fits, with a lease of at least 2h1m20s": schema.CheckTimes(run, 2*time.Minute, 30*time.Second, schema.HistoryLimit-besides-perBeat),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
	for name, err := range map[string]error{
		"the shortest lease": schema.CheckTimes(time.Hour, schema.MinLease(30*time.Second), 30*time.Second, 0),
		"the longest chain":  schema.CheckTimes(time.Hour, 0, 0, schema.HistoryLimit-besides),
		"the last beat":      schema.CheckTimes(run, 2*time.Minute, 30*time.Second, schema.HistoryLimit-besides-perBeat*240),
		"no duration":        schema.CheckDuration("lease", 0, time.Hour),
		"a second":           schema.CheckDuration("lease", time.Second, time.Hour),
		"the longest":        schema.CheckDuration("lease", schema.MaxDuration, time.Hour),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
