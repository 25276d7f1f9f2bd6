package dynamodbapi

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var token = regexp.MustCompile(`^(<>|<=|>=|[=<>()+\-,.\[\]]|[#:]?[A-Za-z0-9_]+)`)

// words are those that DynamoDB's developer guide lists as reserved.
//
//go:embed reserved.txt
var words string

var reserved = strings.Fields(words)

// scope is what the expressions of one request may refer to.
type scope struct {
	names  map[string]string
	values map[string]value
	used   map[string]bool
}

// check refuses names and values that no expression uses, as DynamoDB does.
func (s *scope) check() error {
	for name := range s.names {
		if !s.used[name] {
			return invalid("ExpressionAttributeNames has %s, which no expression uses", name)
		}
	}
	for name := range s.values {
		if !s.used[name] {
			return invalid("ExpressionAttributeValues has %s, which no expression uses", name)
		}
	}
	return nil
}

// maxExpression is DynamoDB's own limit, in bytes.
const maxExpression = 4 << 10

// parser reads one expression.
type parser struct {
	*scope
	what   string // the parameter's name
	tokens []string
	// compared says how the paths were compared: for key conditions, which allow little.
	compared []comparison
	// beyond is the first thing in a condition that no key condition may have.
	beyond string
}

type comparison struct {
	path, how string
	with      value // where it is one of the request's
}

func (s *scope) parser(what, text string) (*parser, error) {
	p := &parser{scope: s, what: what}
	if len(text) > maxExpression {
		return nil, invalid("%s: has %d bytes, %d at most", what, len(text), maxExpression)
	}
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		t := token.FindString(rest)
		if t == "" {
			return nil, invalid("%s: cannot be read at %.20q", what, rest)
		}
		p.tokens = append(p.tokens, t)
		rest = rest[len(t):]
	}
	if len(p.tokens) == 0 {
		return nil, invalid("%s: must not be empty", what)
	}
	return p, nil
}

// next is the next token, "" at the end.
func (p *parser) next() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

func (p *parser) take() string {
	t := p.next()
	if t != "" {
		p.tokens = p.tokens[1:]
	}
	return t
}

// accept takes a keyword or sign if it comes next.
func (p *parser) accept(t string) bool {
	if !strings.EqualFold(p.next(), t) {
		return false
	}
	p.take()
	return true
}

func (p *parser) expect(t string) error {
	if !p.accept(t) {
		return p.unexpected(t)
	}
	return nil
}

func (p *parser) unexpected(want string) error {
	got := p.next()
	if got == "" {
		got = "the end"
	}
	return invalid("%s: %s where %s must stand", p.what, got, want)
}

func (p *parser) end() error {
	if p.next() != "" {
		return p.unexpected("the end")
	}
	return nil
}

func (p *parser) path() (path, error) {
	var out path
	for {
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		out = append(out, step{name: name})
		for p.accept("[") {
			i, err := strconv.ParseUint(p.take(), 10, 16)
			if err != nil {
				return nil, invalid("%s: an index must be a number", p.what)
			}
			if err := p.expect("]"); err != nil {
				return nil, err
			}
			out = append(out, step{index: int(i)})
		}
		if !p.accept(".") {
			return out, nil
		}
	}
}

func (p *parser) name() (string, error) {
	t := p.next()
	switch {
	case strings.HasPrefix(t, "#"):
		name, known := p.names[t]
		if !known {
			return "", invalid("%s: %s is not in ExpressionAttributeNames", p.what, t)
		}
		p.used[p.take()] = true
		return name, nil
	case t == "" || t[0] != '_' && !letter(t[0]):
		return "", p.unexpected("an attribute's name")
	case slices.Contains(reserved, strings.ToUpper(t)):
		return "", invalid("%s: %s is a reserved word: call it by a name such as #%s in ExpressionAttributeNames", p.what, t, t)
	}
	return p.take(), nil
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// placeholder is the value of the next token, which begins with a colon.
func (p *parser) placeholder() (value, error) {
	t := p.next()
	v, known := p.values[t]
	switch {
	case !strings.HasPrefix(t, ":"):
		return v, p.unexpected("a value such as :v")
	case !known:
		return v, invalid("%s: %s is not in ExpressionAttributeValues", p.what, t)
	}
	p.used[p.take()] = true
	return v, nil
}

// paths reads a list of paths to the end.
func (p *parser) paths() ([]path, error) {
	var all []path
	for {
		one, err := p.path()
		if err != nil {
			return nil, err
		}
		if all = append(all, one); !p.accept(",") {
			return all, p.end()
		}
	}
}
