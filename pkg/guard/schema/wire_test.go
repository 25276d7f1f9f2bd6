package schema

import (
	"encoding/json"
	"maps"
	"reflect"
	"testing"
)

// Messages as version 1.0 sends them, which must never be edited: schedules, machines and runs
// that were deployed or started then send them to every later version of this major one, and
// after a rollback a later version's, with more in them, arrive here.
var version1 = map[string]struct {
	into any
	text string
}{
	"tick": {new(TickEvent), `{
		"job":"bills","tick":"2026-09-07T02:00:00Z",
		"spec":{"version":"1.0","scheduler":"shop","job":"bills","schedule":"cron(0 2 * * ? *)","timezone":"Europe/Berlin",
			"start":"2026-01-01T00:00:00Z","end":"2027-01-01T00:00:00Z",
			"machine":"arn:aws:states:eu-central-1:111122223333:stateMachine:shop_bills","overlap":"queue-one","keepFirst":true,"retries":2,
			"catchUp":"all","catchUpMax":10,"beats":true,"chain":true,"fenced":true,"leaseSeconds":120,"renewalSeconds":30,"maxRunSeconds":3600,
			"machineTimeoutSeconds":3710,"startDeadlineSeconds":900,"drainSeconds":900,"graceSeconds":30,"retrySeconds":60,"catchUpSeconds":86400},
		"delivery":{"executionId":"abc","attempt":"1","scheduleArn":"arn:aws:scheduler:eu-central-1:111122223333:schedule/cronfence-shop/bills.shop"}}`},
	"run's input": {new(RunInput), `{"job":"bills","tick":"2026-09-07T02:00:00Z","run":"bills-20260907T020000Z-1","fence":1796046370079,"attempt":1,
		"deadline":"2026-09-07T03:00:00Z","interval":86400}`},
	"run object": {new(RunObject), `{"scheduler":"shop","table":"t","job":"bills","tick":"2026-09-07T02:00:00Z","run":"bills-20260907T020000Z-1",
		"fence":1796046370079,"attempt":1,"deadline":"2026-09-07T03:00:00Z","interval":86400,"payload":{"days":30}}`},
	"message to a worker": {new(TokenMessage), `{"scheduler":"shop","table":"t","job":"bills","tick":"2026-09-07T02:00:00Z","run":"bills-20260907T020000Z-1",
		"fence":1796046370079,"attempt":1,"deadline":"2026-09-07T03:00:00Z","interval":86400,"payload":null,"taskToken":"AAAA"}`},
	"beat": {new(BeatEvent), `{"job":"bills","tick":"2026-09-07T02:00:00Z","run":"bills-20260907T020000Z-1","fence":1796046370079,"interval":86400,
		"startedAt":"2026-09-07T02:00:01.5Z","leaseSeconds":120}`},
	"success": {new(SettleEvent), `{"job":"bills","tick":"2026-09-07T02:00:00Z","run":"bills-20260907T020000Z-1","fence":1796046370079,"attempt":1,
		"interval":86400,"startedAt":"2026-09-07T02:00:01.5Z","endedAt":"2026-09-07T02:10:00Z",
		"machine":"arn:aws:states:eu-central-1:111122223333:stateMachine:shop_bills","chain":true,"status":"succeeded"}`},
	"failure": {new(SettleEvent), `{"job":"bills","tick":"2026-09-07T02:00:00Z","run":"bills-20260907T020000Z-1","fence":1796046370079,"attempt":1,
		"interval":86400,"startedAt":"2026-09-07T02:00:01.5Z","endedAt":"2026-09-07T02:10:00Z",
		"machine":"arn:aws:states:eu-central-1:111122223333:stateMachine:shop_bills","chain":true,"status":"failed",
		"end":{"Error":"States.Timeout","Cause":""}}`},
}

func object(t *testing.T, text []byte) (m map[string]any) {
	t.Helper()
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return m
}

func TestMessagesOfTheFirstVersionAreUnderstood(t *testing.T) {
	for name, m := range version1 {
		sent := object(t, []byte(m.text))
		later := maps.Clone(sent)
		later["ofALaterVersion"] = map[string]any{"more": true}
		for which, message := range map[string]map[string]any{"as sent": sent, "with more in it": later} {
			text, err := json.Marshal(message)
			if err != nil {
				t.Fatal(err)
			}
			into := reflect.New(reflect.TypeOf(m.into).Elem()).Interface()
			if err := json.Unmarshal(text, into); err != nil {
				t.Errorf("%s %s: %v", name, which, err)
				continue
			}
			again, err := json.Marshal(into)
			if err != nil {
				t.Fatal(err)
			}
			for key, value := range object(t, again) {
				if want, known := sent[key]; known && !reflect.DeepEqual(value, want) {
					t.Errorf("%s %s: %s is read as %v: want %v", name, which, key, value, want)
				}
			}
			for key := range sent {
				if _, kept := object(t, again)[key]; !kept {
					t.Errorf("%s %s: %s is not understood any more", name, which, key)
				}
			}
			if tick, ok := into.(*TickEvent); ok {
				if err := tick.Spec.Check(); err != nil {
					t.Errorf("%s %s: %v", name, which, err)
				}
			}
		}
	}
}

func TestExecutionThatPutItsEndOnRecordHasNothingToAdd(t *testing.T) {
	for output, want := range map[string]bool{
		`{"run":"r"}`: true, `{}`: true, `{"run":"r","unsettled":{"Error":"E"}}`: false, `{"unsettled":null}`: false,
		``: false, `null`: false, `[]`: false, `"done"`: false, `{`: false,
	} {
		if got := (StatusDetail{Status: "SUCCEEDED", Output: output}).SettledInside(); got != want {
			t.Errorf("%q: %v, want %v", output, got, want)
		}
		if (StatusDetail{Status: "FAILED", Output: output}).SettledInside() {
			t.Errorf("%q of a failed one", output)
		}
	}
}
