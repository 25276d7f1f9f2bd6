package dynamo

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// expression is a write's condition and update as DynamoDB reads them. Names stand in it
// as #aliases only: any of them may be, or become, a reserved word.
type expression struct {
	condition string
	update    string // empty: the write only checks
	names     map[string]string
	values    map[string]types.AttributeValue
}

// render is deterministic: a transaction committed again must equal the first, or DynamoDB
// refuses its token.
func render(w guard.Write) (expression, error) {
	e := expression{names: map[string]string{}, values: map[string]types.AttributeValue{}}
	var err error
	if e.condition, err = e.require(w); err != nil {
		return expression{}, err
	}
	if w.Patch.Empty() {
		return e, nil
	}
	if e.update, err = e.change(w); err != nil {
		return expression{}, err
	}
	return e, nil
}

// require renders the write's condition. It always says whether the row has to be there:
// DynamoDB would hold "field is missing" true of a row that is not.
func (e *expression) require(w guard.Write) (string, error) {
	key := e.name(schema.PK)
	if w.Absent {
		return "attribute_not_exists(" + key + ")", nil
	}
	terms := []string{"attribute_exists(" + key + ")"}
	for _, c := range w.If {
		term, err := e.compare(c)
		if err != nil {
			return "", fmt.Errorf("render condition on %q: %w", c.Field, err)
		}
		terms = append(terms, term)
	}
	all := strings.Join(terms, " AND ")
	if w.OrAbsent {
		return "attribute_not_exists(" + key + ") OR (" + all + ")", nil
	}
	return all, nil
}

func (e *expression) compare(c guard.Cond) (string, error) {
	path := e.name(c.Field)
	missing := "attribute_not_exists(" + path + ")"
	if c.Op == guard.Missing {
		return missing, nil
	}
	value, err := e.value(c.Value)
	if err != nil {
		return "", err
	}
	switch c.Op {
	case guard.Is:
		return path + " = " + value, nil
	case guard.Less:
		return path + " < " + value, nil
	case guard.AtLeast:
		return path + " >= " + value, nil
	case guard.Greater:
		return path + " > " + value, nil
	case guard.MissingOrLess:
		return "(" + missing + " OR " + path + " < " + value + ")", nil
	case guard.MissingOrGreater:
		return "(" + missing + " OR " + path + " > " + value + ")", nil
	case guard.Missing:
	}
	return "", fmt.Errorf("unknown comparison %d", c.Op)
}

// change renders the write's patch.
func (e *expression) change(w guard.Write) (string, error) {
	var set, remove, add []string
	for _, field := range slices.SortedFunc(slices.Values(w.Patch.Set), func(a, b guard.Field) int { return strings.Compare(a.Name, b.Name) }) {
		value, err := e.value(field.Value)
		if err != nil {
			return "", fmt.Errorf("render field %q: %w", field.Name, err)
		}
		set = append(set, e.name(field.Name)+" = "+value)
	}
	if w.SK == schema.GuardSK && (w.Absent || w.OrAbsent) { // a guard made here must be found by the index
		value, err := e.value(schema.GuardSK)
		if err != nil {
			return "", err
		}
		set = append(set, e.name(schema.GuardIndexPK)+" = "+value)
	}
	for _, field := range slices.Sorted(slices.Values(w.Patch.Remove)) {
		remove = append(remove, e.name(field))
	}
	for _, field := range slices.Sorted(maps.Keys(w.Patch.Add)) {
		value, err := e.value(w.Patch.Add[field])
		if err != nil {
			return "", fmt.Errorf("render field %q: %w", field, err)
		}
		add = append(add, e.name(field)+" "+value)
	}
	var clauses []string
	for _, c := range []struct {
		verb  string
		items []string
	}{{"SET ", set}, {"REMOVE ", remove}, {"ADD ", add}} {
		if len(c.items) > 0 {
			clauses = append(clauses, c.verb+strings.Join(c.items, ", "))
		}
	}
	return strings.Join(clauses, " "), nil
}

// name returns the alias of a field, or of a path into a map: "run.id" is #run.#id.
func (e *expression) name(path string) string {
	parts := strings.Split(path, ".")
	for i, part := range parts {
		parts[i] = "#" + part
		e.names[parts[i]] = part
	}
	return strings.Join(parts, ".")
}

func (e *expression) value(v any) (string, error) {
	av, err := marshal(v)
	if err != nil {
		return "", err
	}
	placeholder := ":v" + strconv.Itoa(len(e.values))
	e.values[placeholder] = av
	return placeholder, nil
}

// valuesOrNil is the values, or nil: DynamoDB refuses an empty map.
func (e *expression) valuesOrNil() map[string]types.AttributeValue {
	if len(e.values) == 0 {
		return nil
	}
	return e.values
}
