// Package alarmtest replays histories of jobs through the real handlers in virtual time, reads
// the metric points that they log, and evaluates synthesized alarms over them by CloudWatch's
// documented rules. It is for tests alone.
package alarmtest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Point is one value of a metric.
type Point struct {
	Namespace  string
	Metric     string
	Dimensions map[string]string
	At         time.Time
	Value      float64
}

//go:embed emf.schema.json
var emfSchema []byte

var compiled = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(emfSchema))
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("emf.schema.json", doc); err != nil {
		return nil, fmt.Errorf("add the schema: %w", err)
	}
	return c.Compile("emf.schema.json")
})

// maxLine is how long a log event may be, in bytes: CloudWatch takes 1 MiB, its agents cut
// at 256 KiB.
const maxLine = 256 << 10

// Points reads what CloudWatch makes of a log line, which is nothing for a line without
// metrics. A line with metrics must be as CloudWatch wants it.
func Points(text []byte) ([]Point, error) {
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, fmt.Errorf("read line: %w", err)
	}
	if members["_aws"] == nil {
		return nil, nil
	}
	if err := validate(text); err != nil {
		return nil, err
	}
	var aws struct {
		Timestamp         int64
		CloudWatchMetrics []directive
	}
	if err := json.Unmarshal(members["_aws"], &aws); err != nil {
		return nil, fmt.Errorf("read line: %w", err)
	}
	var points []Point
	for _, d := range aws.CloudWatchMetrics {
		of, err := d.points(members, time.UnixMilli(aws.Timestamp).UTC())
		if err != nil {
			return nil, err
		}
		points = append(points, of...)
	}
	return points, nil
}

// valid are the shapes of lines that the schema has let pass: of those that differ in digits
// alone it need not be asked again, since it counts digits and compares no number otherwise.
var valid sync.Map

func shape(text []byte) string {
	return string(bytes.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return '1'
		}
		return r
	}, text))
}

func validate(text []byte) error {
	key := shape(text)
	if _, known := valid.Load(key); known {
		return nil
	}
	schema, err := compiled()
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("read line: %w", err)
	}
	if len(text) > maxLine {
		return fmt.Errorf("line of %d bytes: must be at most %d", len(text), maxLine)
	}
	if err := schema.Validate(doc); err != nil {
		return err
	}
	valid.Store(key, true)
	return nil
}

type directive struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []struct{ Name string }
}

// points follows the directive's references into the line's members, as no schema can.
func (d directive) points(members map[string]json.RawMessage, at time.Time) ([]Point, error) {
	var points []Point
	for _, set := range d.Dimensions {
		dimensions := map[string]string{}
		for _, name := range set {
			var v string
			if err := json.Unmarshal(members[name], &v); err != nil || v == "" || len(v) > 1024 {
				return nil, fmt.Errorf("dimension %s: value %s: must be a text of 1 to 1024 characters", name, members[name])
			}
			dimensions[name] = v
		}
		for _, m := range d.Metrics {
			var v float64
			if err := json.Unmarshal(members[m.Name], &v); err != nil {
				return nil, fmt.Errorf("metric %s: value %s: must be a number", m.Name, members[m.Name])
			}
			points = append(points, Point{Namespace: d.Namespace, Metric: m.Name, Dimensions: dimensions, At: at, Value: v})
		}
	}
	return points, nil
}
