package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cronfence/cronfence/internal/rig"
)

// What is measured: so many rounds count after so many that warm up, of so many of each operation.
// A JVM compiles what it has called some thousands of times.
const (
	warmUp   = 75
	rounds   = 15
	perRound = 40
)

// installed is where scripts/bench puts the peers.
const installed = "../.tools/bench/"

// TestSideBySide measures in one run on one emulator. The contenders take turns at each
// operation, so that whatever else the machine does meets them alike.
func TestSideBySide(t *testing.T) {
	if !*record {
		t.Skip("takes minutes and needs Java: scripts/bench")
	}
	cloud := rig.Ministack(t)
	front := newFront(t, cloud.Endpoint)
	direct := dynamodb.NewFromConfig(cloud.Config)
	client := dynamodb.NewFromConfig(cloud.Config, func(o *dynamodb.Options) { o.BaseEndpoint = &front.url })
	java := func(name, table string) contender {
		return process(t, "java", "-cp", installed+"java/classes:"+installed+"java/lib/*", "Peer", name, front.url, table)
	}
	pom, requirements := read(t, "peers/java/pom.xml"), read(t, "peers/python/requirements.txt")
	tables := []string{newTable(t, direct, "id"), cloud.Table(t), newTable(t, direct, "key"), newTable(t, direct, "_id"), newTable(t, direct, "id")}
	contenders := []contender{
		least(t, client, tables[0]), cronfence(t, client, tables[1]), java("lockclient", tables[2]), java("shedlock", tables[3]),
		process(t, installed+"python/bin/python", "peers/python/peer.py", front.url, tables[4]),
	}
	run := Run{
		Setting: begin(), Emulator: emulator(t), WarmUp: warmUp * perRound, Samples: rounds * perRound,
		Contenders: []Contender{
			{Name: "the least", Version: runtime.Version(), Does: []string{"claim", "duplicate", "beat", "skip", "settle"}},
			{Name: "Cronfence", Version: runtime.Version(), Does: []string{"claim", "duplicate", "beat", "skip", "settle"}},
			{Name: "DynamoDB lock client", Version: version(t, pom, `dynamodb-lock-client</artifactId>\s*<version>([^<]+)`), Does: []string{"claim", "beat", "skip", "settle"}},
			{Name: "ShedLock", Version: version(t, pom, `shedlock-provider-dynamodb2</artifactId>\s*<version>([^<]+)`), Does: []string{"claim", "skip", "settle"}},
			{Name: "Powertools idempotency", Version: version(t, requirements, `aws-lambda-powertools==(\S+)`), Does: []string{"claim", "duplicate", "settle"}},
		},
	}
	_, _ = front.take() // what was made ready does not count
	took := measure(t, run, contenders, front, func(i int) int { return largest(t, direct, tables[i]) })
	for i := range run.Contenders {
		run.Contenders[i].finish(took[i])
		if c := run.Contenders[i]; c.LargestItem > 1024 {
			t.Errorf("%s has an item of %d bytes: units are counted for 1 KB", c.Name, c.LargestItem)
		}
	}
	run.LoadAfter = load()
	write(t, "side by side", &run)
}

// measure returns each contender's times by operation, and has the requests counted. Items are
// looked at while they are held.
func measure(t *testing.T, run Run, contenders []contender, front *front, largestItem func(i int) int) []map[string][]time.Duration {
	t.Helper()
	all := make([]map[string][]time.Duration, len(contenders))
	for round := range warmUp + rounds {
		for _, operation := range operations {
			for turn := range contenders {
				i := turnOf(round, turn, len(contenders))
				do, c := contenders[i], &run.Contenders[i]
				if operation == "settle" && round == warmUp+rounds-1 {
					c.LargestItem = largestItem(i)
				}
				if !slices.Contains(c.Does, operation) {
					continue
				}
				took, err := do(operation, round*perRound, (round+1)*perRound)
				if err != nil {
					t.Fatalf("%s: %v", c.Name, err)
				}
				sent, err := front.take()
				if err != nil || sent.Requests == 0 {
					t.Fatalf("%s: %s sent %v requests through the front: %v", c.Name, operation, sent.Requests, err)
				}
				if round < warmUp {
					continue
				}
				if all[i] == nil {
					all[i], c.Operations = map[string][]time.Duration{}, map[string]Measured{}
				}
				all[i][operation] = append(all[i][operation], took...)
				m := c.Operations[operation]
				m.add(sent)
				c.Operations[operation] = m
			}
		}
	}
	return all
}

// turnOf is who is next: each round begins with another, and every other one goes backwards, so that
// nobody always follows the same.
func turnOf(round, turn, of int) int {
	if round%2 == 1 {
		turn = of - 1 - turn
	}
	return (round/2 + turn) % of
}

func TestEveryContenderHasEveryTurnAsOften(t *testing.T) {
	const of = 5
	counts := [of][of]int{}
	for round := range 2 * of {
		seen := map[int]bool{}
		for turn := range of {
			i := turnOf(round, turn, of)
			seen[i] = true
			counts[i][turn]++
		}
		if len(seen) != of {
			t.Fatalf("round %d: %v", round, seen)
		}
	}
	for i, turns := range counts {
		for turn, n := range turns {
			if n != 2 {
				t.Errorf("contender %d has turn %d %d times of %d rounds, want 2", i, turn, n, 2*of)
			}
		}
	}
}

func newTable(t *testing.T, client *dynamodb.Client, key string) string {
	t.Helper()
	name := fmt.Sprintf("peer-%d", time.Now().UnixNano())
	if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &key, AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: &key, KeyType: types.KeyTypeHash}},
	}); err != nil {
		t.Fatalf("create table: %v", err)
	}
	t.Cleanup(func() {
		_, _ = client.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &name}) // it is gone with the emulator
	})
	return name
}

// largest is the size of a table's largest item in bytes, as DynamoDB counts them.
func largest(t *testing.T, client *dynamodb.Client, table string) int {
	t.Helper()
	found := 0
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			found = max(found, sizeOf(item))
		}
	}
	return found
}

func sizeOf(item map[string]types.AttributeValue) (size int) {
	for name, value := range item {
		size += len(name)
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			size += len(v.Value)
		case *types.AttributeValueMemberN:
			size += len(v.Value)/2 + 2
		case *types.AttributeValueMemberB:
			size += len(v.Value)
		case *types.AttributeValueMemberM:
			size += 3 + len(v.Value) + sizeOf(v.Value)
		default:
			size++
		}
	}
	return size
}
