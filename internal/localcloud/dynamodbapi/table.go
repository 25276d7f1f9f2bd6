package dynamodbapi

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Key is an attribute of a table's primary key.
type Key struct{ Name, Type string }

// Table is a table to serve: of the author's own, or a scheduler's.
type Table struct {
	Name string
	Hash Key
	Sort Key // zero where there is none
	// Guards are a scheduler's: its table shows them, and keeps nothing but notes.
	Guards Guards
}

// Guards reads guards, as a guard.Store does.
type Guards interface {
	Guard(ctx context.Context, job string) (*guard.Guard, error)
}

// SchedulerTable is the table of a scheduler.
func SchedulerTable(name string, guards Guards) Table {
	return Table{Name: name, Hash: Key{schema.PK, "S"}, Sort: Key{schema.SK, "S"}, Guards: guards}
}

type table struct {
	Table
	items map[string]item // by key
}

func (t *table) keys() []Key {
	if t.Sort.Name == "" {
		return []Key{t.Hash}
	}
	return []Key{t.Hash, t.Sort}
}

// keyOf reads the primary key of an item or a key; exact says that nothing else may be there.
func (t *table) keyOf(from item, exact bool) (string, error) {
	text := ""
	for _, k := range t.keys() {
		v, found := from[k.Name]
		if !found || v.kind != k.Type || v.text == "" {
			return "", invalid("table %s: key attribute %s must be there, of type %s and not empty", t.Name, k.Name, k.Type)
		}
		text += fmt.Sprintf("%d:%s", len(v.text), v.text)
	}
	if exact && len(from) != len(t.keys()) {
		return "", invalid("table %s: a key has the key attributes and nothing else", t.Name)
	}
	return text, nil
}

// read returns the item of a key, nil where there is none. The caller holds the lock.
func (t *table) read(ctx context.Context, key item) (item, error) {
	id, err := t.keyOf(key, true)
	if err != nil {
		return nil, err
	}
	if t.Guards == nil || isNote(key) {
		return t.items[id], nil
	}
	if key[schema.SK].text != schema.GuardSK {
		return nil, t.denied(key)
	}
	job := key[schema.PK].text
	g, err := t.Guards.Guard(ctx, job)
	if err != nil || g == nil {
		return nil, err
	}
	return guardItem(job, g)
}

// mayWrite refuses writes of what a job has no business with.
func (t *table) mayWrite(key item) error {
	if t.Guards != nil && !isNote(key) {
		return t.denied(key)
	}
	return nil
}

func (t *table) denied(key item) error {
	return &apiError{code: "AccessDeniedException", message: fmt.Sprintf(
		"item %q, %q of the scheduler's table %s: here, as with the constructs' grants, a job may read and check its guard (%s = %q) and keep notes (%s = %q)",
		key[schema.PK].text, key[schema.SK].text, t.Name, schema.SK, schema.GuardSK, schema.PK, schema.NotePK("JOB"))}
}

func isNote(key item) bool { return strings.HasPrefix(key[schema.PK].text, schema.NotePK("")) }

// sorted is all items in the order of a query: by sort key within a hash key.
func (t *table) sorted() []item {
	return slices.SortedFunc(maps.Values(t.items), t.order)
}

func (t *table) order(a, b item) int {
	for _, k := range t.keys() {
		if order, _ := a[k.Name].compare(b[k.Name]); order != 0 {
			return order
		}
	}
	return 0
}

// key is the primary key of an item.
func (t *table) key(of item) item {
	key := item{}
	for _, k := range t.keys() {
		key[k.Name] = of[k.Name]
	}
	return key
}

// guardItem is a guard as the DynamoDB store writes it: by the same JSON names.
func guardItem(job string, g *guard.Guard) (item, error) {
	text, err := json.Marshal(g)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var fields map[string]any
	if err := d.Decode(&fields); err != nil {
		return nil, err
	}
	out := plain(fields).doc
	out[schema.PK], out[schema.SK] = value{kind: "S", text: job}, value{kind: "S", text: schema.GuardSK}
	out[schema.GuardIndexPK] = value{kind: "S", text: schema.GuardSK}
	return out, nil
}

// plain is a value of JSON as DynamoDB has it.
func plain(v any) value {
	switch v := v.(type) {
	case string:
		return value{kind: "S", text: v}
	case json.Number:
		return numberOf(rat(v.String()))
	case bool:
		return value{kind: "BOOL", yes: v}
	case []any:
		list := make([]value, len(v))
		for i := range v {
			list[i] = plain(v[i])
		}
		return value{kind: "L", list: list}
	case map[string]any:
		doc := item{}
		for name, member := range v {
			doc[name] = plain(member)
		}
		return value{kind: "M", doc: doc}
	}
	return value{kind: "NULL", yes: true}
}
