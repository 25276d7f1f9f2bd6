package asl

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// predicate tells whether a filter takes an item. root is what "$" names.
type predicate func(item, root any) bool

// operand is one side of a comparison. found is false for a path that finds nothing.
type operand func(item, root any) (v any, found bool)

// filterParser reads what stands in [?( )]. Its rules are those of the JSONPath library
// behind Step Functions, where a number equals the text that says the same.
type filterParser struct{ rest string }

// parseFilter reads the text behind "[?" up to the closing bracket.
func parseFilter(text string) (step, string, error) {
	p := &filterParser{rest: text}
	test, err := p.or()
	if err == nil && !p.take("]") {
		err = fmt.Errorf("%q must go on with ]", p.rest)
	}
	if err != nil {
		return step{}, "", fmt.Errorf("filter [?%s: %w", text, err)
	}
	return step{kind: stepFilter, filter: test}, p.rest, nil
}

// take skips spaces and then the token, if it comes next.
func (p *filterParser) take(token string) bool {
	p.rest = strings.TrimLeft(p.rest, " ")
	rest, ok := strings.CutPrefix(p.rest, token)
	if ok {
		p.rest = rest
	}
	return ok
}

func (p *filterParser) or() (predicate, error) {
	left, err := p.and()
	for err == nil && p.take("||") {
		var right predicate
		first := left
		right, err = p.and()
		left = func(item, root any) bool { return first(item, root) || right(item, root) }
	}
	return left, err
}

func (p *filterParser) and() (predicate, error) {
	left, err := p.unary()
	for err == nil && p.take("&&") {
		var right predicate
		first := left
		right, err = p.unary()
		left = func(item, root any) bool { return first(item, root) && right(item, root) }
	}
	return left, err
}

func (p *filterParser) unary() (predicate, error) {
	if p.take("!") {
		inner, err := p.unary()
		return func(item, root any) bool { return !inner(item, root) }, err
	}
	if p.take("(") {
		inner, err := p.or()
		if err == nil && !p.take(")") {
			err = fmt.Errorf("%q must go on with )", p.rest)
		}
		return inner, err
	}
	return p.comparison()
}

// filterOperators are tried in this order: a longer one before its beginning.
var filterOperators = []struct {
	token   string
	compare func(a, b any) bool
}{
	{"==", looseEqual},
	{"!=", func(a, b any) bool { return !looseEqual(a, b) }},
	{"<=", func(a, b any) bool { return inOrder(a, b, func(c int) bool { return c <= 0 }) }},
	{">=", func(a, b any) bool { return inOrder(a, b, func(c int) bool { return c >= 0 }) }},
	{"<", func(a, b any) bool { return inOrder(a, b, func(c int) bool { return c < 0 }) }},
	{">", func(a, b any) bool { return inOrder(a, b, func(c int) bool { return c > 0 }) }},
	{"in ", isIn},
	{"nin ", func(a, b any) bool { return !isIn(a, b) }},
}

func (p *filterParser) comparison() (predicate, error) {
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	if p.take("=~") {
		return p.matches(left)
	}
	for _, op := range filterOperators {
		if !p.take(op.token) {
			continue
		}
		right, err := p.operand()
		return func(item, root any) bool {
			a, foundA := left(item, root)
			b, foundB := right(item, root)
			if !foundA || !foundB { // nothing equals only itself, and is in no order
				return op.token == "!=" || op.token == "nin "
			}
			return op.compare(a, b)
		}, err
	}
	if next := strings.TrimLeft(p.rest, " "); next != "" && next[0] != ')' && next[0] != ']' && next[0] != '&' && next[0] != '|' {
		return nil, fmt.Errorf("operator at %q is not supported; the local cloud knows == != < <= > >= =~ in nin, and !, && and || around them", next)
	}
	return func(item, root any) bool { _, found := left(item, root); return found }, nil
}

// matches reads /pattern/flags; the pattern must match the whole text.
func (p *filterParser) matches(left operand) (predicate, error) {
	p.take("") // spaces
	end := 1
	for end < len(p.rest) && (p.rest[end] != '/' || p.rest[end-1] == '\\') {
		end++
	}
	if !strings.HasPrefix(p.rest, "/") || end >= len(p.rest) {
		return nil, fmt.Errorf("%q: =~ must be followed by /pattern/", p.rest)
	}
	pattern := strings.ReplaceAll(p.rest[1:end], `\/`, "/")
	p.rest = p.rest[end+1:]
	flags := ""
	if p.take("i") {
		flags = "(?i)"
	}
	re, err := regexp.Compile(flags + "^(?:" + pattern + ")$")
	if err != nil {
		return nil, fmt.Errorf("=~ /%s/: %w", pattern, err)
	}
	return func(item, root any) bool {
		v, _ := left(item, root)
		text, ok := v.(string)
		return ok && re.MatchString(text)
	}, nil
}

// operand reads a path, a text in quotes or any JSON value.
func (p *filterParser) operand() (operand, error) {
	p.take("") // spaces
	if p.rest == "" {
		return nil, fmt.Errorf("a value is missing at its end")
	}
	switch p.rest[0] {
	case '@', '$':
		return p.path()
	case '\'':
		return p.quoted()
	}
	d := json.NewDecoder(strings.NewReader(strings.ReplaceAll(p.rest, `'`, `"`)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("%q is no value", p.rest)
	}
	p.rest = p.rest[d.InputOffset():]
	return func(any, any) (any, bool) { return v, true }, nil
}

func (p *filterParser) path() (operand, error) {
	text := p.rest[:pathEnd(p.rest)]
	p.rest = p.rest[len(text):]
	parsed, err := parsePath("$" + text[1:])
	if err != nil {
		return nil, err
	}
	if parsed.context || parsed.variable != "" {
		return nil, fmt.Errorf("%q is not supported in a filter; the local cloud knows paths from @ and $", text)
	}
	relative := text[0] == '@'
	return func(item, root any) (any, bool) {
		from := root
		if relative {
			from = item
		}
		found := parsed.find(from, root)
		switch {
		case !parsed.definite():
			return found, true
		case len(found) == 0:
			return nil, false
		}
		return found[0], true
	}, nil
}

func (p *filterParser) quoted() (operand, error) {
	text, rest, err := unquote(p.rest)
	p.rest = rest
	return func(any, any) (any, bool) { return text, true }, err
}

// pathEnd is where a path ends that begins the text: at a space, comma, operator or
// closing bracket that is not within brackets or quotes of the path's own.
func pathEnd(text string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '[' || c == '(':
			depth++
		case depth > 0 && (c == ']' || c == ')'):
			depth--
		case depth == 0 && strings.IndexByte(" ,)]=!<>&|", c) >= 0:
			return i
		}
	}
	return len(text)
}

// looseEqual compares as the JSONPath library does: what the left side is decides how a
// number and a text are compared.
func looseEqual(a, b any) bool {
	switch left := a.(type) {
	case json.Number:
		if text, ok := b.(string); ok {
			b = json.Number(text)
		}
		return inOrder(left, b, func(c int) bool { return c == 0 })
	case string:
		if n, ok := b.(json.Number); ok {
			return left == n.String()
		}
	}
	return equalJSON(a, b)
}

// inOrder compares two numbers or two texts; anything else is in no order.
func inOrder(a, b any, holds func(int) bool) bool {
	if x, ok := asNumber(a); ok {
		y, ok := asNumber(b)
		return ok && holds(x.Cmp(y))
	}
	x, ok := a.(string)
	y, ok2 := b.(string)
	return ok && ok2 && holds(strings.Compare(x, y))
}

func isIn(v, list any) bool {
	items, _ := list.([]any)
	for _, item := range items {
		if looseEqual(v, item) {
			return true
		}
	}
	return false
}

// equalJSON compares decoded JSON; numbers by what they are worth.
func equalJSON(a, b any) bool {
	switch x := a.(type) {
	case json.Number:
		return inOrder(x, b, func(c int) bool { return c == 0 })
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, equalJSON)
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && maps.EqualFunc(x, y, equalJSON)
	}
	return a == b
}
