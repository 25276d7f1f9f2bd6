package sim

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var mutantsFlag = flag.String("sim.mutants", "release-without-owner-check,no-drain-before-handover", "mutants to be caught, separated by commas, or all")

// mutantSchedules is within how many schedules each mutant must be caught.
const mutantSchedules = 20_000

// TestMutantsAreCaught breaks the protocol on purpose, one deliberate fault a mutant, and
// expects the schedules to show it: a check that cannot fail proves nothing. The faults are
// kept beside the code and laid over it by go test -overlay; one that fits the code no longer
// fails this test.
func TestMutantsAreCaught(t *testing.T) {
	files, err := filepath.Glob("mutants/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no mutants: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			overlay := overlayOf(t, file)
			if *mutantsFlag != "all" && !strings.Contains(","+*mutantsFlag+",", ","+name+",") {
				t.Skip("not asked for: -sim.mutants")
			}
			catch(t, overlay)
		})
	}
}

// catch runs the schedules over a mutant.
func catch(t *testing.T, overlay string) {
	cmd := exec.Command("go", "test", "-overlay", overlay, "-run", "^TestSchedules$", ".",
		"-sim.seed=1", fmt.Sprintf("-sim.n=%d", mutantSchedules), "-sim.first")
	out, err := cmd.CombinedOutput()
	first, _, found := strings.Cut(after(string(out), "seed "), "\n")
	if err == nil || !found || !strings.Contains(first, "violated") {
		t.Fatalf("not caught within %d schedules: %v\n%s", mutantSchedules, err, out)
	}
	if strings.Contains(first, "panic violated") {
		t.Fatalf("the mutant does not run, which proves nothing: %s", first)
	}
	t.Logf("caught by seed %s", first)
}

func after(s, mark string) string {
	for {
		_, rest, ok := strings.Cut(s, mark)
		if !ok {
			return ""
		}
		if line, _, _ := strings.Cut(rest, "\n"); strings.Contains(line, "violated") {
			return rest
		}
		s = rest
	}
}

// overlayOf applies a mutant to copies of the sources and returns the file for -overlay.
func overlayOf(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	root, dir := filepath.Join("..", ".."), t.TempDir()
	replace := map[string]string{}
	for _, part := range strings.Split(string(text), "\n== ")[1:] {
		path, edits, _ := strings.Cut(part, "\n")
		source, err := filepath.Abs(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		mutant := filepath.Join(dir, fmt.Sprintf("%d_%s", len(replace), filepath.Base(path)))
		if err := os.WriteFile(mutant, []byte(edit(t, source, edits)), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[source] = mutant
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return overlay
}

// edit replaces each passage between -- and ++ by what follows it. A passage must stand in
// the source exactly once.
func edit(t *testing.T, source, edits string) string {
	t.Helper()
	b, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, e := range strings.Split("\n"+strings.TrimRight(edits, "\n"), "\n--\n")[1:] {
		from, to, ok := strings.Cut(e, "\n++\n")
		if n := strings.Count(text, from); !ok || n != 1 {
			t.Fatalf("the mutant no longer applies: %s has %d times\n%s", source, n, from)
		}
		text = strings.Replace(text, from, to, 1)
	}
	return text
}
