package asl

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// escapedBrace stands for a brace that is no placeholder's, until Format has looked.
var escapedBrace = map[byte]string{'{': "\x00(", '}': "\x00)"}

var unescapeBraces = strings.NewReplacer(escapedBrace['{'], "{", escapedBrace['}'], "}")

func format(c call) (any, error) {
	text, err := c.text(0)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(text, "{}")
	if len(parts) != len(c.args) {
		return nil, fmt.Errorf("%q has %d places for %d arguments", text, len(parts)-1, len(c.args)-1)
	}
	var b strings.Builder
	for i, part := range parts {
		if i > 0 {
			b.WriteString(plain(c.args[i]))
		}
		b.WriteString(unescapeBraces.Replace(part))
	}
	return b.String(), nil
}

// plain writes a value as AWS formats it: text as it is, lists and objects in Java's way.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case json.Number:
		return v.String()
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = plain(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]any:
		var fields []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			fields = append(fields, name+"="+plain(v[name]))
		}
		return "{" + strings.Join(fields, ", ") + "}"
	}
	return fmt.Sprint(v)
}
