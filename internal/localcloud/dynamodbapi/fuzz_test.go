package dynamodbapi

import (
	"errors"
	"testing"
)

// Whatever an expression says, it is read or refused as the requester's fault.
func FuzzExpressions(f *testing.F) {
	for _, text := range []string{
		"attribute_not_exists(#a) OR #a <= :v", "NOT (size(l) > :v AND b.c[1] IN (:v, :w))", "n BETWEEN :v AND :w", "begins_with(s, :s)", "contains(l, :v)",
		"SET n = n + :v, l = list_append(if_not_exists(l, :l), :l) REMOVE b.c[0], l[1] ADD n :v DELETE t :t", "ADD b.c :v", "((", "size(", "a.", "a[9", "SET",
	} {
		f.Add(text)
	}
	n := value{kind: "N", text: "1"}
	pair := value{kind: "L", list: []value{n, n}}
	one := item{
		"n": n, "s": {kind: "S", text: "x"}, "l": pair, "t": {kind: "SS", set: []string{"a"}},
		"b": {kind: "M", doc: item{"c": pair}},
	}
	refused := func(t *testing.T, err error) {
		t.Helper()
		if e := new(apiError); err != nil && (!errors.As(err, &e) || e.code != "ValidationException") {
			t.Errorf("got %v", err)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		names := &scope{names: map[string]string{"#a": "a"}, values: item{":v": n, ":w": n, ":s": one["s"], ":l": one["l"], ":t": one["t"]}, used: map[string]bool{}}
		c, err := names.condition("ConditionExpression", text)
		refused(t, err)
		if err == nil {
			c(one)
			c(nil)
		}
		if actions, err := names.update(text); err == nil {
			_, err = apply(actions, one)
			refused(t, err)
		} else {
			refused(t, err)
		}
		paths, err := names.projection(text)
		refused(t, err)
		if err == nil {
			_, err = project(one, paths)
			refused(t, err)
		}
	})
}
