package dynamo

import (
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/policy"
)

// fill sets everything in v to something that is not its zero value.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0))
		fill(t, v.Index(1))
	case reflect.String:
		v.SetString("a<b&c> ü")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1) // the last digit of an instant and the second of the policies
	case reflect.Float64:
		v.SetFloat(2.8333)
	default:
		t.Fatalf("a record has a %s: does it come back from the table?", v.Type())
	}
}

// stored is the item that a write of every field leaves.
func stored(t *testing.T, record reflect.Value) item {
	t.Helper()
	out := key("a<b&c> ü", "sk")
	for i := range record.NumField() {
		name, _, _ := strings.Cut(record.Type().Field(i).Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		av, err := marshal(record.Field(i).Interface())
		if err != nil {
			t.Fatalf("marshal %s: %v", name, err)
		}
		out[name] = av
	}
	return out
}

func TestEveryFieldOfEveryRecordComesBack(t *testing.T) {
	var g guard.Guard
	fill(t, reflect.ValueOf(&g).Elem())
	gotGuard, err := guardOf(g.Job, stored(t, reflect.ValueOf(g)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&g, gotGuard); diff != "" {
		t.Errorf("guard (-written +read):\n%s", diff)
	}
	var r guard.Row
	fill(t, reflect.ValueOf(&r).Elem())
	gotRow, err := rowOf(r.Job, stored(t, reflect.ValueOf(r)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&r, gotRow); diff != "" {
		t.Errorf("row (-written +read):\n%s", diff)
	}
}

// A millisecond must not get lost in a float, nor a policy in a number.
func TestWhatTheTableHolds(t *testing.T) {
	for _, c := range []struct {
		in   any
		want types.AttributeValue
	}{
		{guard.Millis(9007199254740993), &types.AttributeValueMemberN{Value: "9007199254740993"}},
		{policy.Allow, &types.AttributeValueMemberS{Value: "allow"}},
		{policy.Skip, &types.AttributeValueMemberS{Value: "skip"}},
		{guard.Running, &types.AttributeValueMemberS{Value: "Running"}},
		{0.1, &types.AttributeValueMemberN{Value: "0.1"}},
	} {
		got, err := marshal(c.in)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v is kept as %+v, %v; want %+v", c.in, got, err, c.want)
		}
	}
}

func TestAttributesOfANewerVersionAreLeftAlone(t *testing.T) {
	from := key("cleanup", "guard")
	from["version"] = &types.AttributeValueMemberN{Value: "7"}
	from["fromTheFuture"] = &types.AttributeValueMemberM{Value: item{"x": &types.AttributeValueMemberS{Value: "y"}}}
	g, err := guardOf("cleanup", from)
	if err != nil || g.Version != 7 {
		t.Errorf("got %+v, %v; want version 7", g, err)
	}
}
