package alarmtest

import (
	"strings"
	"testing"
)

const goodLine = `{"_aws":{"Timestamp":1788739200000,"CloudWatchMetrics":[{"Namespace":"Cronfence","Dimensions":[["Scheduler","Job"]],` +
	`"Metrics":[{"Name":"Failed","Unit":"Count"}]}]},"Scheduler":"shop","Job":"cleanup","Failed":1}`

func TestLineThatCloudWatchWouldNotReadIsRefused(t *testing.T) {
	if points, err := Points([]byte(goodLine)); err != nil || len(points) != 1 || points[0].Dimensions["Job"] != "cleanup" || points[0].Value != 1 {
		t.Fatalf("%v, %v: want the point", points, err)
	}
	for name, change := range map[string][2]string{
		"no namespace":              {`"Namespace":"Cronfence",`, ``},
		"reserved namespace":        {`"Cronfence"`, `":x"`},
		"no dimensions":             {`[["Scheduler","Job"]]`, `[]`},
		"dimension without name":    {`["Scheduler","Job"]`, `["Scheduler",""]`},
		"dimension without a value": {`"Job":"cleanup",`, ``},
		"dimension that is no text": {`"cleanup"`, `7`},
		"dimension twice":           {`["Scheduler","Job"]`, `["Job","Job"]`},
		"unknown unit":              {`"Count"`, `"Counts"`},
		"unknown member":            {`"Unit"`, `"Units"`},
		"seconds":                   {`1788739200000`, `1788739200`},
		"text for a value":          {`"Failed":1`, `"Failed":"1"`},
		"no value":                  {`,"Failed":1`, ``},
		"no metric":                 {`{"Name":"Failed","Unit":"Count"}`, ``},
	} {
		line := strings.Replace(goodLine, change[0], change[1], 1)
		if line == goodLine {
			t.Fatalf("%s: nothing changed", name)
		}
		if _, err := Points([]byte(line)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
