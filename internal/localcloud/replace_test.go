package localcloud

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/internal/localcloud/asl"
)

// Whatever the constructs make, a command can stand in for its work and nothing else.
func TestACommandStandsInForTheWorkOfEverySynthesizedMachine(t *testing.T) {
	files, err := filepath.Glob("../../infra/cronfence/testdata/*.asl.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden machines: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		replaced, err := replaceWork(string(text), "command of cleanup")
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		m, err := asl.Parse([]byte(replaced))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		work := 0
		for state := range m.TaskResources() {
			if !strings.HasPrefix(state, "Cronfence ") || state == "Cronfence Chain" {
				work++
			}
		}
		if n := strings.Count(replaced, `"FunctionName":"command of cleanup"`); n != 1 || work != 1 {
			t.Errorf("%s: the command is called in %d places, and %d tasks are the job's: want one of each", file, n, work)
		}
	}
	if _, err := replaceWork(`{"StartAt":"S","States":{"S":{"Type":"Pass","End":true}}}`, "c"); err == nil {
		t.Error("a machine without work is given a command")
	}
}
