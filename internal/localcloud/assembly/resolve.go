package assembly

import (
	"fmt"
	"regexp"
	"strings"
)

// template is the part of a CloudFormation template that is read. Nothing is resolved
// before it is needed: what the local cloud does not run may use what it does not know.
type template struct {
	Parameters map[string]struct{ Default any }
	Resources  map[string]resource
	Outputs    map[string]struct {
		Value  any
		Export *struct{ Name any }
	}
}

type resource struct {
	Type       string
	Properties map[string]any
	Metadata   map[string]any
	Condition  string
}

type stack struct {
	world    *world
	name     string
	template template
}

// noValue is what AWS::NoValue resolves to: the property is as good as absent.
type noValue struct{}

// resolve replaces CloudFormation's functions in v.
func (s *stack) resolve(v any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 1 {
			for name, arg := range v {
				if name == "Ref" || strings.HasPrefix(name, "Fn::") {
					return s.call(name, arg)
				}
			}
		}
		out := make(map[string]any, len(v))
		for name, member := range v {
			r, err := s.resolve(member)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if _, absent := r.(noValue); !absent {
				out[name] = r
			}
		}
		return out, nil
	case []any:
		out := make([]any, 0, len(v))
		for _, member := range v {
			r, err := s.resolve(member)
			if err != nil {
				return nil, err
			}
			if _, absent := r.(noValue); !absent {
				out = append(out, r)
			}
		}
		return out, nil
	}
	return v, nil
}

// text resolves v, which must come out as a string.
func (s *stack) text(v any) (string, error) {
	r, err := s.resolve(v)
	if err != nil {
		return "", err
	}
	switch r := r.(type) {
	case string:
		return r, nil
	case nil, noValue:
		return "", nil
	case float64, bool:
		return fmt.Sprint(r), nil
	}
	return "", fmt.Errorf("%v: must be a string", v)
}

func (s *stack) call(name string, arg any) (any, error) {
	if name == "Ref" {
		id, _ := arg.(string)
		return s.ref(id)
	}
	if name == "Fn::Sub" {
		return s.sub(arg)
	}
	if name == "Fn::GetAtt" {
		return s.getAtt(arg)
	}
	arg, err := s.resolve(arg)
	if err != nil {
		return nil, err
	}
	switch list, _ := arg.([]any); {
	case name == "Fn::Join" && len(list) == 2:
		return join(list)
	case name == "Fn::Split" && len(list) == 2:
		return split(list)
	case name == "Fn::Select" && len(list) == 2:
		return pick(list)
	case name == "Fn::ImportValue":
		return s.world.imported(fmt.Sprint(arg))
	}
	return nil, fmt.Errorf("%s %v: the local cloud resolves Ref, Fn::GetAtt, Fn::Join, Fn::Sub, Fn::Select, Fn::Split and Fn::ImportValue", name, arg)
}

func (w *world) imported(name string) (any, error) {
	e, ok := w.exports[name]
	if !ok {
		return nil, fmt.Errorf("Fn::ImportValue %q: no stack of the assembly exports it", name)
	}
	return e.stack.resolve(e.value)
}

func (s *stack) ref(id string) (any, error) {
	switch id {
	case "AWS::Region":
		return Region, nil
	case "AWS::AccountId":
		return Account, nil
	case "AWS::Partition":
		return "aws", nil
	case "AWS::URLSuffix":
		return "amazonaws.com", nil
	case "AWS::StackName":
		return s.name, nil
	case "AWS::StackId":
		return arn("cloudformation", "stack/"+s.name+"/local"), nil
	case "AWS::NoValue":
		return noValue{}, nil
	}
	if p, ok := s.template.Parameters[id]; ok {
		return p.Default, nil
	}
	r, ok := s.template.Resources[id]
	if !ok {
		return nil, fmt.Errorf("Ref %q: the stack has no such resource or parameter", id)
	}
	return s.refOf(id, r)
}

func (s *stack) getAtt(arg any) (any, error) {
	var id, attr string
	switch arg := arg.(type) {
	case string:
		id, attr, _ = strings.Cut(arg, ".")
	case []any:
		if len(arg) == 2 {
			id, attr = fmt.Sprint(arg[0]), fmt.Sprint(arg[1])
		}
	}
	r, ok := s.template.Resources[id]
	if !ok {
		return nil, fmt.Errorf("Fn::GetAtt %v: the stack has no such resource", arg)
	}
	if attr == "Arn" || strings.HasSuffix(attr, "Arn") {
		return s.arnOf(id, r)
	}
	name, err := s.nameOf(id, r)
	if err != nil || attr == "Name" || attr == "QueueName" {
		return name, err
	}
	return name + "." + attr, nil
}

var subVariable = regexp.MustCompile(`\$\{([^}]+)\}`)

func (s *stack) sub(arg any) (any, error) {
	text, ok := arg.(string)
	values := map[string]any{}
	if list, isList := arg.([]any); isList && len(list) == 2 {
		text, ok = list[0].(string)
		values, _ = list[1].(map[string]any)
	}
	if !ok {
		return nil, fmt.Errorf("Fn::Sub %v: must be a string, alone or with a map", arg)
	}
	var failed error
	out := subVariable.ReplaceAllStringFunc(text, func(match string) string {
		name := match[2 : len(match)-1]
		if literal, ok := strings.CutPrefix(name, "!"); ok {
			return "${" + literal + "}"
		}
		var v any = map[string]any{"Ref": name}
		if given, ok := values[name]; ok {
			v = given
		} else if strings.Contains(name, ".") {
			v = map[string]any{"Fn::GetAtt": name}
		}
		got, err := s.text(v)
		if err != nil {
			failed = err
		}
		return got
	})
	return out, failed
}

func join(list []any) (any, error) {
	parts, ok := list[1].([]any)
	if !ok {
		return nil, fmt.Errorf("Fn::Join %v: must have a list", list)
	}
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = fmt.Sprint(part)
	}
	return strings.Join(texts, fmt.Sprint(list[0])), nil
}

func split(list []any) (any, error) {
	var out []any
	for _, part := range strings.Split(fmt.Sprint(list[1]), fmt.Sprint(list[0])) {
		out = append(out, part)
	}
	return out, nil
}

func pick(list []any) (any, error) {
	var i int
	_, err := fmt.Sscan(fmt.Sprint(list[0]), &i)
	from, ok := list[1].([]any)
	if err != nil || !ok || i < 0 || i >= len(from) {
		return nil, fmt.Errorf("Fn::Select %v: no such element", list)
	}
	return from[i], nil
}
