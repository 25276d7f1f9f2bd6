package asl

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Path is a JSONPath as Step Functions takes it: names, indexes, slices, wildcards,
// descendants, filters and length() below "$" (the input), "$$" (the context object) or
// "$name" (a variable). Other functions are refused by name.
type Path struct {
	text     string
	context  bool
	variable string // "" for the input or the context object
	steps    []step
}

type stepKind int

const (
	stepName stepKind = iota
	stepIndex
	stepSlice
	stepWild
	stepDeep // every value below, itself included
	stepFilter
	stepLength // of a list
)

type step struct {
	kind    stepKind
	names   []string
	indexes []int
	from    *int
	to      *int
	filter  predicate
	each    bool // behind "..": a filter then asks every object, and no list for its items
}

func (p *Path) String() string { return p.text }

// definite tells whether the path names at most one value.
func (p *Path) definite() bool {
	for i, s := range p.steps {
		several := len(s.names) > 1 && i < len(p.steps)-1 // at the end they make one object
		if s.kind != stepLength && s.kind > stepIndex || several || len(s.indexes) > 1 {
			return false
		}
	}
	return true
}

// UnmarshalJSON reads a path from its text.
func (p *Path) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return fmt.Errorf("path %s: must be a string", b)
	}
	parsed, err := parsePath(text)
	if err != nil {
		return err
	}
	*p = *parsed
	return nil
}

func parsePath(text string) (*Path, error) {
	p := &Path{text: text}
	rest, ok := strings.CutPrefix(text, "$")
	if !ok {
		return nil, fmt.Errorf("path %q: must begin with $", text)
	}
	if r, ok := strings.CutPrefix(rest, "$"); ok {
		p.context, rest = true, r
	} else if end := nameEnd(rest); end > 0 {
		p.variable, rest = rest[:end], rest[end:]
	}
	for rest != "" {
		steps, r, err := parseStep(rest)
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", text, err)
		}
		p.steps, rest = append(p.steps, steps...), r
	}
	return p, nil
}

// nameEnd is where a variable's name ends that begins the text.
func nameEnd(text string) int {
	for i, r := range text {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return i
		}
	}
	return len(text)
}

func parseStep(rest string) ([]step, string, error) {
	var steps []step
	if r, ok := strings.CutPrefix(rest, ".."); ok {
		steps = append(steps, step{kind: stepDeep})
		if strings.HasPrefix(r, "[") {
			s, r, err := parseBracket(r)
			s.each = true
			return append(steps, s), r, err
		}
		rest = "." + r
	}
	switch rest[0] {
	case '[':
		s, r, err := parseBracket(rest)
		return append(steps, s), r, err
	case '.':
		end := strings.IndexAny(rest[1:], ".[")
		if end < 0 {
			end = len(rest) - 1
		}
		name := rest[1 : 1+end]
		switch {
		case name == "":
			return nil, "", fmt.Errorf("a name is missing after the dot")
		case name == "*":
			return append(steps, step{kind: stepWild}), rest[1+end:], nil
		case name == "length()" && end == len(rest)-1:
			return append(steps, step{kind: stepLength}), "", nil
		case strings.ContainsAny(name, "() '\"$@"):
			return nil, "", fmt.Errorf("%q is not supported; the local cloud knows names, indexes, slices, filters, * and length() at the end", name)
		}
		return append(steps, step{kind: stepName, names: []string{name}}), rest[1+end:], nil
	}
	return nil, "", fmt.Errorf("%q: must go on with . or [", rest)
}

// parseBracket reads one [...] with a name, index, slice, wildcard, filter or list of the
// first two.
func parseBracket(rest string) (step, string, error) {
	inner := strings.TrimLeft(rest[1:], " ")
	if strings.HasPrefix(inner, "?") {
		return parseFilter(inner[1:])
	}
	if strings.HasPrefix(inner, "'") || strings.HasPrefix(inner, `"`) {
		return parseNames(inner)
	}
	end := strings.IndexByte(inner, ']')
	if end < 0 {
		return step{}, "", fmt.Errorf("%q has no closing bracket", rest)
	}
	body, rest := strings.TrimSpace(inner[:end]), inner[end+1:]
	switch {
	case body == "*":
		return step{kind: stepWild}, rest, nil
	case strings.Contains(body, ":"):
		s, err := parseSlice(body)
		return s, rest, err
	}
	s := step{kind: stepIndex}
	for _, part := range strings.Split(body, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return step{}, "", fmt.Errorf("[%s] is not supported; the local cloud knows names in quotes, indexes, slices, filters and *", body)
		}
		s.indexes = append(s.indexes, n)
	}
	return s, rest, nil
}

func parseSlice(body string) (step, error) {
	s := step{kind: stepSlice}
	parts := strings.Split(body, ":")
	if len(parts) != 2 {
		return s, fmt.Errorf("slice [%s]: must be [from:to]", body)
	}
	for i, bound := range []**int{&s.from, &s.to} {
		text := strings.TrimSpace(parts[i])
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return s, fmt.Errorf("slice [%s]: %q is no number", body, text)
		}
		*bound = &n
	}
	return s, nil
}

// parseNames reads 'a','b'] where a backslash takes a quote or a backslash as it is.
func parseNames(rest string) (step, string, error) {
	s := step{kind: stepName}
	for {
		name, r, err := unquote(rest)
		if err != nil {
			return s, "", err
		}
		s.names = append(s.names, name)
		rest = strings.TrimLeft(r, " ")
		switch {
		case strings.HasPrefix(rest, "]"):
			return s, rest[1:], nil
		case strings.HasPrefix(rest, ","):
			rest = strings.TrimLeft(rest[1:], " ")
			if strings.HasPrefix(rest, "'") || strings.HasPrefix(rest, `"`) {
				continue
			}
		}
		return s, "", fmt.Errorf("names in brackets: %q must go on with ] or another name", rest)
	}
}

// unquote reads the text in quotes with which rest begins, and returns what follows.
func unquote(rest string) (text, after string, err error) {
	quote := rest[0]
	var b strings.Builder
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] == quote:
			return b.String(), rest[i+1:], nil
		case rest[i] == '\\' && i+1 < len(rest) && (rest[i+1] == quote || rest[i+1] == '\\'):
			i++
		}
		b.WriteByte(rest[i])
	}
	return "", "", fmt.Errorf("%s has no closing quote", rest)
}
