package dynamodbapi

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// value is an attribute's value. It is never changed, but for members of a document that an
// update has cloned.
type value struct {
	kind string // S, N, B, BOOL, NULL, SS, NS, BS, L or M
	text string // of S; of N as a plain decimal; of B its bytes
	yes  bool   // of BOOL
	set  []string
	list []value
	doc  item
}

// item is what a table keeps.
type item map[string]value

// number is what DynamoDB takes: 38 digits, an exponent of at most three.
var number = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$`)

const maxDigits = 40

// UnmarshalJSON reads one member, named by the value's type.
func (v *value) UnmarshalJSON(b []byte) error {
	var one map[string]json.RawMessage
	if err := json.Unmarshal(b, &one); err != nil || len(one) != 1 {
		return fmt.Errorf("attribute value %.60s: must have exactly one type", b)
	}
	for kind, raw := range one {
		v.kind = kind
		if err := v.read(raw); err != nil {
			return fmt.Errorf("attribute value of type %s: %w", kind, err)
		}
	}
	return nil
}

func (v *value) read(raw json.RawMessage) (err error) {
	switch v.kind {
	case "S", "N", "B":
		if err = json.Unmarshal(raw, &v.text); err == nil {
			v.text, err = scalar(v.kind, v.text)
		}
	case "BOOL", "NULL":
		err = json.Unmarshal(raw, &v.yes)
	case "SS", "NS", "BS":
		if err = json.Unmarshal(raw, &v.set); err != nil {
			return err
		}
		for i := range v.set {
			if v.set[i], err = scalar(v.kind[:1], v.set[i]); err != nil {
				return err
			}
		}
		given := len(v.set)
		slices.Sort(v.set)
		if v.set = slices.Compact(v.set); given == 0 || len(v.set) != given {
			return fmt.Errorf("a set must not be empty and has each member once")
		}
	case "L":
		v.list = []value{}
		err = json.Unmarshal(raw, &v.list)
	case "M":
		v.doc = item{}
		err = json.Unmarshal(raw, &v.doc)
	default:
		err = fmt.Errorf("no such type")
	}
	return err
}

func scalar(kind, text string) (string, error) {
	switch kind {
	case "B":
		b, err := base64.StdEncoding.DecodeString(text)
		return string(b), err
	case "N":
		if !number.MatchString(text) || len(text) > maxDigits {
			return "", fmt.Errorf("%.60q is no number of at most 38 digits", text)
		}
		return decimal(rat(text)), nil
	}
	return text, nil
}

func rat(text string) *big.Rat {
	r, _ := new(big.Rat).SetString(text) // it was checked
	return r
}

// decimal writes a number as DynamoDB does: without exponent and idle zeros.
func decimal(r *big.Rat) string {
	digits, _ := r.FloatPrec()
	return r.FloatString(digits)
}

func numberOf(r *big.Rat) value { return value{kind: "N", text: decimal(r)} }

// MarshalJSON writes the value as the protocol has it.
func (v value) MarshalJSON() ([]byte, error) {
	var inner any
	switch v.kind {
	case "S", "N":
		inner = v.text
	case "B":
		inner = []byte(v.text)
	case "BOOL", "NULL":
		inner = v.yes
	case "SS", "NS":
		inner = v.set
	case "BS":
		var all [][]byte
		for _, b := range v.set {
			all = append(all, []byte(b))
		}
		inner = all
	case "L":
		inner = v.list
	case "M":
		inner = v.doc
	}
	return json.Marshal(map[string]any{v.kind: inner})
}

func (v value) equal(w value) bool {
	return v.kind == w.kind && v.text == w.text && v.yes == w.yes && slices.Equal(v.set, w.set) &&
		slices.EqualFunc(v.list, w.list, value.equal) && maps.EqualFunc(v.doc, w.doc, value.equal)
}

// compare orders two values of one type that has an order.
func (v value) compare(w value) (order int, comparable bool) {
	switch {
	case v.kind != w.kind:
		return 0, false
	case v.kind == "N":
		return rat(v.text).Cmp(rat(w.text)), true
	case v.kind == "S" || v.kind == "B":
		return strings.Compare(v.text, w.text), true
	}
	return 0, false
}

func (v value) contains(w value) bool {
	switch v.kind {
	case "S", "B":
		return v.kind == w.kind && strings.Contains(v.text, w.text)
	case "SS", "NS", "BS":
		return v.kind[:1] == w.kind && slices.Contains(v.set, w.text)
	case "L":
		return slices.ContainsFunc(v.list, w.equal)
	}
	return false
}

// size is what the function of that name returns; false where a type has none.
func (v value) size() (int64, bool) {
	switch v.kind {
	case "S", "B":
		return int64(len(v.text)), true
	case "SS", "NS", "BS":
		return int64(len(v.set)), true
	case "L":
		return int64(len(v.list)), true
	case "M":
		return int64(len(v.doc)), true
	}
	return 0, false
}

// clone copies what can be changed.
func (v value) clone() value {
	if v.list != nil {
		list := make([]value, len(v.list))
		for i := range v.list {
			list[i] = v.list[i].clone()
		}
		v.list = list
	}
	if v.doc != nil {
		v.doc = v.doc.clone()
	}
	return v
}

func (i item) clone() item {
	out := make(item, len(i))
	for name, v := range i {
		out[name] = v.clone()
	}
	return out
}
