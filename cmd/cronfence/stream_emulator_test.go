//go:build linux

package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	schedulertypes "github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

var measureLists = flag.Bool("lists", false, "measure lists of 10,000 jobs and 100,000 ticks on an emulator")

// How soon the command line writes its first line, and how much memory it takes, on long lists:
// figures to print, not to fail on.
func TestMeasureLists(t *testing.T) {
	if !*measureLists {
		t.Skip("takes minutes: make lists")
	}
	cloud := rig.Ministack(t)
	table, group := cloud.Table(t), schema.GroupName("long")
	groups := scheduler.NewFromConfig(cloud.Config)
	must(groups.CreateScheduleGroup(t.Context(), &scheduler.CreateScheduleGroupInput{
		Name: &group, Tags: []schedulertypes.Tag{{Key: aws.String(schema.TagTable), Value: &table}},
	}))
	t.Cleanup(func() {
		_, _ = groups.DeleteScheduleGroup(context.Background(), &scheduler.DeleteScheduleGroupInput{Name: &group})
	})
	var items []map[string]types.AttributeValue
	add := func(job, sk string, record any, more map[string]string) {
		item := must(attributevalue.MarshalMapWithOptions(record, func(o *attributevalue.EncoderOptions) { o.TagKey = "json" }))
		item[schema.PK], item[schema.SK] = &types.AttributeValueMemberS{Value: job}, &types.AttributeValueMemberS{Value: sk}
		for k, v := range more {
			item[k] = &types.AttributeValueMemberS{Value: v}
		}
		items = append(items, item)
	}
	spec := testworld.Minutely("x")
	for i := range 10_000 {
		add(fmt.Sprintf("job%05d", i), schema.GuardSK, guard.Guard{Version: 1, Ready: true, Spec: &spec}, map[string]string{schema.GuardIndexPK: schema.GuardSK})
	}
	seed(t, dynamodb.NewFromConfig(cloud.Config), table, items)

	binary := filepath.Join(t.TempDir(), "cronfence")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	useAWS(t, cloud.Endpoint, cloud.Config.Region, "ministack")
	// The emulators judge each of a job's ticks anew for every query, which takes them seconds: a
	// history is that of a local cloud's interface over records in memory.
	dev := []string{"--dev", servesHistory(t, 100_000)}
	for _, args := range [][]string{
		{"jobs", "--scheduler", "long"},
		{"jobs", "--scheduler", "long", "--json"},
		append([]string{"history", "cleanup"}, dev...),
		append([]string{"history", "cleanup", "--json"}, dev...),
	} {
		cmd := exec.Command(binary, args...)
		began := time.Now()
		out := must(cmd.StdoutPipe())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines, first, memory := 0, time.Duration(0), ""
		for s := bufio.NewScanner(out); s.Scan(); lines++ {
			if lines == 0 {
				first = time.Since(began)
			}
			if lines%500 == 499 {
				memory = highest(t, cmd.Process.Pid)
			}
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		t.Logf("%v: %d lines, the first after %v, all after %v, at most %s", args, lines, first.Round(time.Millisecond),
			time.Since(began).Round(time.Millisecond), memory)
	}
}

// servesHistory is the interface of a local cloud with a job of so many ticks.
func servesHistory(t *testing.T, ticks int) (url string) {
	t.Helper()
	w := newTown(t)
	w.Established(testworld.Minutely("cleanup"), "01:59")
	for i := range ticks {
		at := schema.MillisOf(testworld.Midnight.Add(-time.Duration(i) * time.Minute))
		tick := guard.TickID(guard.Scheduled, at)
		err := w.Store.Store.Commit(t.Context(), guard.Commit{Job: "cleanup", Token: "t", Writes: []guard.Write{{
			SK: schema.TickSK(tick), Absent: true, Patch: guard.Patch{Set: guard.Fields{
				{Name: "tick", Value: tick},
				{Name: "at", Value: at},
				{Name: "kind", Value: guard.Scheduled},
				{Name: "outcome", Value: guard.Succeeded},
				{Name: "run", Value: "x"},
				{Name: "token", Value: "t"},
				{Name: "claimedAt", Value: at},
				{Name: "startedAt", Value: at},
				{Name: "endedAt", Value: at + 2000},
				{Name: "runTime", Value: int64(2000)},
				{Name: "interval", Value: int64(60)},
				{Name: "ratio", Value: 0.0333},
			}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return w.url
}

// highest is the most memory that a process had so far. What the system says of it at its end
// counts the memory of this test, from which it was forked.
func highest(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return "" // it has ended
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	line, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(line)
}

func seed(t *testing.T, client *dynamodb.Client, table string, items []map[string]types.AttributeValue) {
	t.Helper()
	var wg sync.WaitGroup
	const writers, batch = 8, 25
	for w := range writers {
		wg.Go(func() {
			for i := w * batch; i < len(items); i += writers * batch {
				var puts []types.WriteRequest
				for _, item := range items[i:min(i+batch, len(items))] {
					puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
				}
				if _, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: puts}}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
