package dynamodbapi

import (
	"math/big"
	"slices"
	"strings"
)

// condition tells whether it holds of an item; of one that is not there, of an empty one.
type condition func(item) bool

// operand is a value of an item, if it has it.
type operand func(item) (value, bool)

func always(item) bool { return true }

// condition reads an expression; "" holds always.
func (s *scope) condition(what, text string) (condition, error) {
	if text == "" {
		return always, nil
	}
	p, err := s.parser(what, text)
	if err != nil {
		return nil, err
	}
	c, err := p.or()
	if err != nil {
		return nil, err
	}
	return c, p.end()
}

func (p *parser) or() (condition, error) {
	left, err := p.and()
	for err == nil && p.accept("OR") {
		p.beyond = "OR"
		var right condition
		l := left
		right, err = p.and()
		left = func(i item) bool { return l(i) || right(i) }
	}
	return left, err
}

func (p *parser) and() (condition, error) {
	left, err := p.not()
	for err == nil && p.accept("AND") {
		var right condition
		l := left
		right, err = p.not()
		left = func(i item) bool { return l(i) && right(i) }
	}
	return left, err
}

func (p *parser) not() (condition, error) {
	switch {
	case p.accept("NOT"):
		p.beyond = "NOT"
		c, err := p.not()
		return func(i item) bool { return !c(i) }, err
	case p.accept("("):
		c, err := p.or()
		if err != nil {
			return nil, err
		}
		return c, p.expect(")")
	case len(p.tokens) > 1 && p.tokens[1] == "(" && !strings.EqualFold(p.next(), "size"):
		return p.function()
	}
	return p.comparison()
}

func (p *parser) function() (condition, error) {
	name := p.take()
	p.take() // the bracket
	of, err := p.path()
	if err != nil {
		return nil, err
	}
	with := func(item) (value, bool) { return value{}, true }
	if name != "attribute_exists" && name != "attribute_not_exists" {
		if err := p.expect(","); err != nil {
			return nil, err
		}
		if with, err = p.operand(); err != nil {
			return nil, err
		}
	}
	p.compared = append(p.compared, comparison{path: of.String(), how: name})
	if name != "begins_with" {
		p.beyond = name
	}
	test, known := functions[name]
	if !known {
		return nil, invalid("%s: %s is no function of conditions", p.what, name)
	}
	return func(i item) bool {
		v, found := of.get(i)
		w, given := with(i)
		return given && test(v, found, w)
	}, p.expect(")")
}

var functions = map[string]func(v value, found bool, with value) bool{
	"attribute_exists":     func(_ value, found bool, _ value) bool { return found },
	"attribute_not_exists": func(_ value, found bool, _ value) bool { return !found },
	"attribute_type":       func(v value, found bool, with value) bool { return found && v.kind == with.text },
	"contains":             func(v value, found bool, with value) bool { return found && v.contains(with) },
	"begins_with": func(v value, found bool, with value) bool {
		return found && v.kind == with.kind && (v.kind == "S" || v.kind == "B") && strings.HasPrefix(v.text, with.text)
	},
}

func (p *parser) comparison() (condition, error) {
	start := p.tokens
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	how := strings.ToUpper(p.take())
	named := comparison{path: start[0], how: how}
	if alias, ok := p.names[named.path]; ok {
		named.path = alias
	}
	if strings.HasPrefix(p.next(), ":") {
		named.with = p.values[p.next()]
	}
	p.compared = append(p.compared, named)
	switch how {
	case "BETWEEN":
		return p.between(left)
	case "IN":
		p.beyond = how
		return p.in(left)
	case "<>":
		p.beyond = how
	}
	test, known := comparators[how]
	if !known {
		return nil, invalid("%s: %q is no comparison", p.what, how)
	}
	right, err := p.operand()
	return compared(left, right, test), err
}

// comparators judge two values: whether they are there and equal, and their order where they
// have one.
var comparators = map[string]func(equal bool, order int, ordered bool) bool{
	"=":  func(equal bool, _ int, _ bool) bool { return equal },
	"<>": func(equal bool, _ int, _ bool) bool { return !equal },
	"<":  func(_ bool, order int, ordered bool) bool { return ordered && order < 0 },
	"<=": func(_ bool, order int, ordered bool) bool { return ordered && order <= 0 },
	">":  func(_ bool, order int, ordered bool) bool { return ordered && order > 0 },
	">=": func(_ bool, order int, ordered bool) bool { return ordered && order >= 0 },
}

func compared(left, right operand, test func(bool, int, bool) bool) condition {
	return func(i item) bool {
		v, a := left(i)
		w, b := right(i)
		order, ordered := v.compare(w)
		return test(a && b && v.equal(w), order, a && b && ordered)
	}
}

func (p *parser) between(left operand) (condition, error) {
	low, err := p.operand()
	if err == nil {
		err = p.expect("AND")
	}
	if err != nil {
		return nil, err
	}
	high, err := p.operand()
	from, to := compared(left, low, comparators[">="]), compared(left, high, comparators["<="])
	return func(i item) bool { return from(i) && to(i) }, err
}

func (p *parser) in(left operand) (condition, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	var any []condition
	for {
		one, err := p.operand()
		if err != nil {
			return nil, err
		}
		any = append(any, compared(left, one, comparators["="]))
		if !p.accept(",") {
			break
		}
	}
	return func(i item) bool { return slices.ContainsFunc(any, func(c condition) bool { return c(i) }) }, p.expect(")")
}

// operand reads a path, a value or the size of what is at a path.
func (p *parser) operand() (operand, error) {
	if strings.HasPrefix(p.next(), ":") {
		v, err := p.placeholder()
		return func(item) (value, bool) { return v, true }, err
	}
	if strings.EqualFold(p.next(), "size") && len(p.tokens) > 1 && p.tokens[1] == "(" {
		p.beyond = "size"
		p.take()
		p.take()
		of, err := p.path()
		if err != nil {
			return nil, err
		}
		return func(i item) (value, bool) {
			v, found := of.get(i)
			n, has := v.size()
			return numberOf(new(big.Rat).SetInt64(n)), found && has
		}, p.expect(")")
	}
	at, err := p.path()
	return at.get, err
}
