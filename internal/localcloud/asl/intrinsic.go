package asl

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// call is an intrinsic function at work: its arguments and what else it may need.
type call struct {
	args  []any
	scope scope
}

// intrinsic is one function of the language, with how many arguments it takes.
type intrinsic struct {
	min, max int
	do       func(call) (any, error)
}

const anyNumber = 1 << 10

// intrinsics are all functions of the language, by the name behind "States.".
var intrinsics = map[string]intrinsic{
	"Array":          {0, anyNumber, func(c call) (any, error) { return c.args, nil }},
	"ArrayPartition": {2, 2, arrayPartition},
	"ArrayContains":  {2, 2, arrayContains},
	"ArrayRange":     {3, 3, arrayRange},
	"ArrayGetItem":   {2, 2, arrayGetItem},
	"ArrayLength":    {1, 1, arrayLength},
	"ArrayUnique":    {1, 1, arrayUnique},
	"Base64Encode":   {1, 1, base64Encode},
	"Base64Decode":   {1, 1, base64Decode},
	"Hash":           {2, 2, func(c call) (any, error) { return hashText(c.args[0], c.args[1]) }},
	"JsonMerge":      {3, 3, jsonMerge},
	"StringToJson":   {1, 1, stringToJSON},
	"JsonToString":   {1, 1, jsonToString},
	"MathRandom":     {2, 3, mathRandom},
	"MathAdd":        {2, 2, mathAdd},
	"StringSplit":    {2, 2, stringSplit},
	"UUID":           {0, 0, func(call) (any, error) { return newUUID(), nil }},
	"Format":         {1, anyNumber, format},
}

var intrinsicName = regexp.MustCompile(`^States\.([A-Za-z0-9]+)\(`)

// compileIntrinsic reads one call, with calls as arguments.
func compileIntrinsic(text string) (expr, error) {
	p := &intrinsicParser{rest: text}
	e, err := p.call()
	if err == nil && strings.TrimSpace(p.rest) != "" {
		err = fmt.Errorf("%q follows its end", p.rest)
	}
	if err != nil {
		return nil, fmt.Errorf("intrinsic function %q: %w", text, err)
	}
	return e, nil
}

type intrinsicParser struct{ rest string }

func (p *intrinsicParser) call() (expr, error) {
	m := intrinsicName.FindStringSubmatch(p.rest)
	if m == nil {
		return nil, fmt.Errorf("%q: must be States.NAME(...)", p.rest)
	}
	f, known := intrinsics[m[1]]
	if !known {
		return nil, fmt.Errorf("function States.%s is not supported", m[1])
	}
	p.rest = p.rest[len(m[0]):]
	args, err := p.arguments(m[1] == "Format")
	if err != nil {
		return nil, err
	}
	if len(args) < f.min || len(args) > f.max {
		return nil, fmt.Errorf("States.%s has %d arguments: must have from %d to %d", m[1], len(args), f.min, f.max)
	}
	return func(s scope) (any, error) {
		values := make([]any, len(args))
		for i, arg := range args {
			v, err := arg(s)
			if err != nil {
				return nil, err
			}
			values[i] = v
		}
		v, err := f.do(call{values, s})
		if err != nil {
			return nil, &Error{Name: ErrNameIntrinsic, Cause: fmt.Sprintf("States.%s: %v", m[1], err)}
		}
		return v, nil
	}, nil
}

// arguments reads up to the closing bracket. In a template, the first of them, escaped
// braces stay marked, so that Format can tell them from its places.
func (p *intrinsicParser) arguments(template bool) ([]expr, error) {
	var args []expr
	for {
		p.rest = strings.TrimLeft(p.rest, " ")
		if rest, ok := strings.CutPrefix(p.rest, ")"); ok && len(args) == 0 {
			p.rest = rest
			return nil, nil
		}
		arg, err := p.argument(template && len(args) == 0)
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
		p.rest = strings.TrimLeft(p.rest, " ")
		if rest, ok := strings.CutPrefix(p.rest, ")"); ok {
			p.rest = rest
			return args, nil
		}
		rest, ok := strings.CutPrefix(p.rest, ",")
		if !ok {
			return nil, fmt.Errorf("%q must go on with , or )", p.rest)
		}
		p.rest = rest
	}
}

func (p *intrinsicParser) argument(template bool) (expr, error) {
	switch {
	case p.rest == "":
		return nil, fmt.Errorf("an argument is missing at its end")
	case strings.HasPrefix(p.rest, "States."):
		return p.call()
	case p.rest[0] == '\'':
		text, err := p.literal()
		if !template {
			text = unescapeBraces.Replace(text)
		}
		return func(scope) (any, error) { return text, nil }, err
	}
	end := pathEnd(p.rest)
	text := p.rest[:end]
	p.rest = p.rest[end:]
	if strings.HasPrefix(text, "$") {
		path, err := parsePath(text)
		if err != nil {
			return nil, err
		}
		return path.get, nil
	}
	v, err := decodeJSON([]byte(text))
	switch v.(type) {
	case nil, bool, json.Number:
		if err == nil {
			return func(scope) (any, error) { return v, nil }, nil
		}
	}
	return nil, fmt.Errorf("argument %q: must be a text in single quotes, a number, true, false, null, a path or a function", text)
}

// literal reads a text in single quotes. A backslash takes the next of ' { } \ as it is;
// braces come out marked.
func (p *intrinsicParser) literal() (string, error) {
	var b strings.Builder
	for i := 1; i < len(p.rest); i++ {
		c := p.rest[i]
		switch {
		case c == '\'':
			p.rest = p.rest[i+1:]
			return b.String(), nil
		case c == '\\' && i+1 < len(p.rest):
			i++
			switch next := p.rest[i]; next {
			case '\'', '\\':
				b.WriteByte(next)
			case '{', '}':
				b.WriteString(escapedBrace[next])
			default:
				return "", fmt.Errorf("literal %s: \\%c: only ' { } \\ can be escaped", p.rest, next)
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", fmt.Errorf("literal %s has no closing quote", p.rest)
}
