package schema

import (
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/policy"
)

func goodSpec() Spec {
	return Spec{
		Version: SpecVersion, Scheduler: "test", Job: "cleanup", Schedule: "rate(1 minute)",
		Machine: "arn:aws:states:us-east-1:000000000000:stateMachine:test_cleanup", Beats: true,
		LeaseSeconds: 120, RenewalSeconds: 30, MaxRunSeconds: 600, MachineTimeoutSeconds: 630, StartDeadlineSeconds: 900,
	}
}

const maxSeconds = 366 * 24 * 60 * 60

func TestSpecThatNoConstructMakesIsRefused(t *testing.T) {
	if err := goodSpec().Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Spec){
		`spec version "1": must be MAJOR.MINOR`:               func(s *Spec) { s.Version = "1" },
		`spec version "0.9": must be MAJOR.MINOR`:             func(s *Spec) { s.Version = "0.9" },
		`spec version "x.1": must be MAJOR.MINOR`:             func(s *Spec) { s.Version = "x.1" },
		`spec version "2.0": this dispatcher understands`:     func(s *Spec) { s.Version = "2.0" },
		`spec: scheduler name "a_b"`:                          func(s *Spec) { s.Scheduler = "a_b" },
		`spec: job name "a/b"`:                                func(s *Spec) { s.Job = "a/b" },
		`must be the ARN of a state machine ending in ":stat`: func(s *Spec) { s.Machine = "arn:x:stateMachine:prod_cleanup" },
		`spec: overlap 7: must be one of`:                     func(s *Spec) { s.Overlap = 7 },
		`overlap "allow" with fenced writes`:                  func(s *Spec) { s.Overlap, s.Fenced, s.Beats = policy.Allow, true, false },
		`overlap "allow" with beats`:                          func(s *Spec) { s.Overlap = policy.Allow },
		`keepFirst with overlap "skip"`:                       func(s *Spec) { s.KeepFirst = true },
		`retries -1: must be 0 to 10`:                         func(s *Spec) { s.Retries = -1 },
		`retries 11: must be 0 to 10`:                         func(s *Spec) { s.Retries = 11 },
		`catchUpMax 0: must be 1 to 1000`:                     func(s *Spec) { s.CatchUp = policy.CatchUpAll },
		`catchUpMax 1001: must be 1 to 1000`:                  func(s *Spec) { s.CatchUp, s.CatchUpMax = policy.CatchUpAll, 1001 },
		`leaseSeconds 0: must be 1 to 31622400`:               func(s *Spec) { s.LeaseSeconds = 0 },
		`maxRunSeconds 0: must be 1 to`:                       func(s *Spec) { s.MaxRunSeconds = 0 },
		`machineTimeoutSeconds 599: must be 600 to`:           func(s *Spec) { s.MachineTimeoutSeconds = 599 },
		`machineTimeoutSeconds 31622401: must be 600 to`:      func(s *Spec) { s.MachineTimeoutSeconds = maxSeconds + 1 },
		`startDeadlineSeconds 59: must be 60 to`:              func(s *Spec) { s.StartDeadlineSeconds = 59 },
		`drainSeconds -1: must be 0 to`:                       func(s *Spec) { s.DrainSeconds = -1 },
		`renewalSeconds -1: must be 0 to`:                     func(s *Spec) { s.RenewalSeconds = -1 },
		`graceSeconds -1: must be 0 to`:                       func(s *Spec) { s.GraceSeconds = -1 },
		`retrySeconds -1: must be 0 to`:                       func(s *Spec) { s.RetrySeconds = -1 },
		`catchUpSeconds -1: must be 0 to`:                     func(s *Spec) { s.CatchUpSeconds = -1 },
		`renewalSeconds 0: a job with beats needs at least 1`: func(s *Spec) { s.RenewalSeconds = 0 },
		`leaseSeconds 114: must be at least 1m55s`:            func(s *Spec) { s.LeaseSeconds = 114 },
	} {
		s := goodSpec()
		change(&s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
}

func TestSpecAtItsBoundsIsGood(t *testing.T) {
	for name, change := range map[string]func(*Spec){
		"newer minor version": func(s *Spec) { s.Version = "1.7" },
		"most retries":        func(s *Spec) { s.Retries = 10 },
		"one to catch up":     func(s *Spec) { s.CatchUp, s.CatchUpMax = policy.CatchUpAll, 1 },
		"most to catch up":    func(s *Spec) { s.CatchUp, s.CatchUpMax = policy.CatchUpAll, 1000 },
		"latest needs no max": func(s *Spec) { s.CatchUp = policy.CatchUpLatest },
		"first of the queue":  func(s *Spec) { s.Overlap, s.KeepFirst = policy.QueueOne, true },
		"fenced":              func(s *Spec) { s.Fenced = true },
		"allow":               func(s *Spec) { s.Overlap, s.Beats, s.RenewalSeconds = policy.Allow, false, 0 },
		"shortest lease":      func(s *Spec) { s.LeaseSeconds = 115 },
		"no beats, any lease": func(s *Spec) { s.Beats, s.LeaseSeconds = false, 1 },
		"shortest run":        func(s *Spec) { s.MaxRunSeconds, s.MachineTimeoutSeconds = 1, 1 },
		"longest run":         func(s *Spec) { s.MaxRunSeconds, s.MachineTimeoutSeconds = maxSeconds, maxSeconds },
		"shortest deadline":   func(s *Spec) { s.StartDeadlineSeconds = 60 },
	} {
		s := goodSpec()
		change(&s)
		if err := s.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDurationsOfASpec(t *testing.T) {
	s := goodSpec()
	s.GraceSeconds, s.DrainSeconds = 7, 9
	for name, c := range map[string]struct{ got, want time.Duration }{
		"lease": {s.Lease(), 2 * time.Minute}, "renewal": {s.Renewal(), 30 * time.Second}, "maximum": {s.MaxRun(), 10 * time.Minute},
		"machine": {s.MachineTimeout(), 630 * time.Second}, "deadline": {s.StartDeadline(), 15 * time.Minute},
		"window": {s.Window(), 20 * time.Minute}, "grace": {s.Grace(), 7 * time.Second}, "drain": {s.Drain(), 9 * time.Second},
		"retries": {s.RetryWindow(60), time.Minute}, "catch-up": {s.CatchUpWindow(), 24 * time.Hour},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	s.RetrySeconds, s.CatchUpSeconds, s.Fenced = 5, 6, true
	if s.RetryWindow(60) != 5*time.Second || s.CatchUpWindow() != 6*time.Second || s.Drain() != 0 {
		t.Errorf("retries %v, catch-up %v, drain %v: want what the spec says, and no drain of a fenced job", s.RetryWindow(60), s.CatchUpWindow(), s.Drain())
	}
	if MinLease(30*time.Second) != 115*time.Second {
		t.Errorf("shortest lease %v", MinLease(30*time.Second))
	}
	for run, want := range map[time.Duration]bool{45 * time.Second: true, 45*time.Second + 1: false} {
		if got := FitsWithoutBeats(run, 2*time.Minute); got != want {
			t.Errorf("%v fits a lease of two minutes: %v, want %v", run, got, want)
		}
	}
}

func TestHashTellsSpecsApart(t *testing.T) {
	a, b := goodSpec(), goodSpec()
	if a.Hash() != b.Hash() || len(a.Hash()) != 32 {
		t.Errorf("hashes %q, %q of one spec", a.Hash(), b.Hash())
	}
	if b.MaxRunSeconds++; a.Hash() == b.Hash() {
		t.Error("two specs have one hash")
	}
	if b.Overlap = 9; b.Hash() != "" {
		t.Errorf("hash %q of a spec that cannot be written", b.Hash())
	}
	if r := (Spec{Overlap: policy.QueueOne, KeepFirst: true}).Rule(); r != (policy.Rule{Overlap: policy.QueueOne, KeepFirst: true}) {
		t.Errorf("rule %+v", r)
	}
}

// docs/jobs.md lists them, and what is deployed depends on them.
func TestDefaultsAreAsDocumented(t *testing.T) {
	for name, c := range map[string]struct{ got, want time.Duration }{
		"lease": {DefaultLease, 120 * time.Second}, "renewal": {DefaultRenewal, 30 * time.Second}, "margin": {SkewMargin, 10 * time.Second},
		"maximum run time": {DefaultMaxRun, 3600 * time.Second}, "start deadline": {DefaultStartDeadline, 900 * time.Second},
		"delivery grace": {DeliveryGrace, 300 * time.Second}, "grace": {DefaultGrace, 30 * time.Second},
		"catch-up": {DefaultCatchUpWindow, 86_400 * time.Second}, "dispatcher": {DispatcherTimeout, 15 * time.Second},
		"heartbeat": {HeartbeatTimeout, 10 * time.Second}, "sentinel": {SentinelTimeout, 55 * time.Second}, "sweep": {Sweep, 60 * time.Second},
		"start": {StartAllowance, 75 * time.Second}, "settle": {SettleAllowance, 120 * time.Second}, "slack": {MachineSlack, 30 * time.Second},
		"retention": {Retention, 90 * 86_400 * time.Second},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}

func TestNamesHaveTheirLengthAndLetters(t *testing.T) {
	longest := strings.Repeat("a", 48)
	for name, want := range map[string][2]bool{ // of a job, of a scheduler
		"a": {true, true}, "7": {true, true}, "A-b": {true, true}, "a_b": {true, false}, "Z9-": {true, true},
		longest: {true, false}, longest + "a": {false, false}, longest[:31]: {true, true}, longest[:32]: {true, false},
		"": {false, false}, "-a": {false, false}, "_a": {false, false}, "a b": {false, false}, "a/b": {false, false}, "é": {false, false}, "aé": {false, false},
	} {
		if got := [2]bool{CheckJob(name) == nil, CheckScheduler(name) == nil}; got != want {
			t.Errorf("%q may name a job and a scheduler: %v, want %v", name, got, want)
		}
	}
}
