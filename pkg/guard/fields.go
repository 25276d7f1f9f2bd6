package guard

import (
	"fmt"
	"reflect"
	"strings"
)

// fieldSet finds a record's fields by their JSON names: conditions, patches and both
// stores speak of fields by name, and this is the one place that knows which there are.
type fieldSet struct {
	names  []string
	places []int // of the names in the record
	index  map[string]int
	maps   map[string]fieldSet // of the fields that are maps
	record reflect.Type
}

var (
	guardFields = fieldsOf(reflect.TypeFor[Guard]())
	rowFields   = fieldsOf(reflect.TypeFor[Row]())
	gapFields   = fieldsOf(reflect.TypeFor[Gap]())
)

func fieldsOf(t reflect.Type) fieldSet {
	fs := fieldSet{index: map[string]int{}, maps: map[string]fieldSet{}, record: t}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		fs.names, fs.places = append(fs.names, name), append(fs.places, i)
		fs.index[name] = i
		if f := t.Field(i).Type; f.Kind() == reflect.Pointer {
			fs.maps[name] = fieldsOf(f.Elem())
		}
	}
	return fs
}

// get returns the value of a field, or of a field of a map: "run.id". It is the zero
// Value when the field is not set.
func (fs fieldSet) get(rec reflect.Value, path string) reflect.Value {
	name, rest, nested := strings.Cut(path, ".")
	i, ok := fs.index[name]
	if !ok {
		panic(fmt.Sprintf("guard: %s has no field %q", fs.record, name))
	}
	v := rec.Field(i)
	if v.IsZero() {
		return reflect.Value{}
	}
	if nested {
		return fs.maps[name].get(v.Elem(), rest)
	}
	return v
}

// diff returns the patch that turns one record into the other. A field that becomes zero
// is removed: zero and absent are the same everywhere. The caller may set room more.
func (fs fieldSet) diff(from, to reflect.Value, room int) Patch {
	var places [64]uint8 // more than any record has fields: no allocation
	changed := places[:0]
	for n, i := range fs.places {
		if !equal(from.Field(i), to.Field(i)) {
			changed = append(changed, uint8(n)) //nolint:gosec // a handful
		}
	}
	p := Patch{Set: make(Fields, 0, len(changed)+room)}
	for _, n := range changed {
		if v := to.Field(fs.places[n]); v.IsZero() {
			p.Remove = append(p.Remove, fs.names[n])
		} else {
			p.Set = append(p.Set, Field{fs.names[n], v.Interface()})
		}
	}
	return p
}

func equal(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Pointer: // what a field points to is never changed in place
		return a.Pointer() == b.Pointer() || reflect.DeepEqual(a.Interface(), b.Interface())
	case reflect.Int64:
		return a.Int() == b.Int()
	case reflect.String:
		return a.String() == b.String()
	default:
		return a.Equal(b)
	}
}

// apply changes the record as the patch says.
func (fs fieldSet) apply(rec reflect.Value, p Patch) {
	for _, f := range p.Set {
		rec.Field(fs.index[f.Name]).Set(reflect.ValueOf(f.Value))
	}
	for _, name := range p.Remove {
		rec.Field(fs.index[name]).SetZero()
	}
	for name, n := range p.Add {
		f := rec.Field(fs.index[name])
		f.SetInt(f.Int() + n)
	}
}

// holds tells whether the condition is true of the record.
func (fs fieldSet) holds(rec reflect.Value, c Cond) bool {
	v := fs.get(rec, c.Field)
	if !v.IsValid() {
		return c.Op == Missing || c.Op == MissingOrLess || c.Op == MissingOrGreater
	}
	w := reflect.ValueOf(c.Value)
	switch c.Op {
	case Missing:
		return false
	case Is:
		return equal(v, w)
	case Less, MissingOrLess:
		return v.Int() < w.Int()
	case AtLeast:
		return v.Int() >= w.Int()
	case Greater, MissingOrGreater:
		return v.Int() > w.Int()
	}
	panic(fmt.Sprintf("guard: unknown comparison %d of %q", c.Op, c.Field))
}

func diffGuards(from, to *Guard) Patch {
	return guardFields.diff(reflect.ValueOf(from).Elem(), reflect.ValueOf(to).Elem(), 0)
}

func diffRows(from, to *Row, room int) Patch {
	return rowFields.diff(reflect.ValueOf(from).Elem(), reflect.ValueOf(to).Elem(), room)
}

// Holds tells whether all conditions are true of the guard.
func (g Guard) Holds(conds []Cond) bool { return allHold(guardFields, reflect.ValueOf(g), conds) }

// Same tells whether two guards of a job are equal in every field that is stored.
func (g Guard) Same(h Guard) bool { return diffGuards(&g, &h).Empty() }

// Holds tells whether all conditions are true of the row.
func (r Row) Holds(conds []Cond) bool { return allHold(rowFields, reflect.ValueOf(r), conds) }

func allHold(fs fieldSet, rec reflect.Value, conds []Cond) bool {
	for _, c := range conds {
		if !fs.holds(rec, c) {
			return false
		}
	}
	return true
}

// Holds tells whether all conditions are true of the gap.
func (gap Gap) Holds(conds []Cond) bool { return allHold(gapFields, reflect.ValueOf(gap), conds) }

// Apply returns the guard as the patch makes it.
func (g Guard) Apply(p Patch) Guard {
	guardFields.apply(reflect.ValueOf(&g).Elem(), p)
	return g
}

// Apply returns the gap as the patch makes it.
func (gap Gap) Apply(p Patch) Gap {
	gapFields.apply(reflect.ValueOf(&gap).Elem(), p)
	return gap
}

// Apply returns the row as the patch makes it.
func (r Row) Apply(p Patch) Row {
	rowFields.apply(reflect.ValueOf(&r).Elem(), p)
	return r
}
