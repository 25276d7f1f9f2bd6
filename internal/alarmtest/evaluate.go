package alarmtest

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// State of an alarm.
type State string

// The states.
const (
	OK               State = "OK"
	InAlarm          State = "ALARM"
	InsufficientData State = "INSUFFICIENT_DATA"
)

// Change is a change of an alarm's state, or of one of its contributors.
type Change struct {
	At          time.Time
	Alarm       string
	Contributor string // of a query the series that changed
	To          State
}

// Extra is how many data points more than its evaluation periods CloudWatch retrieves for an
// alarm. How many is documented by an example alone, which this follows: 5 for 3.
const Extra = 2

// contributorSight is how far back a Metrics Insights alarm sees its series.
const contributorSight = 3 * time.Hour

// Evaluate runs alarms over points by CloudWatch's documented rules, every minute between two
// instants, and returns how their states change. Windows slide: the newest period ends with the
// minute. Points arrive at once.
//
// Missing data: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html;
// windows: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation-window.html.
func Evaluate(alarms []Alarm, points []Point, from, to time.Time, extra int) []Change {
	var all []Change
	for _, a := range alarms {
		all = append(all, a.evaluate(points, from, to, extra)...)
	}
	slices.SortStableFunc(all, func(x, y Change) int { return x.At.Compare(y.At) })
	return all
}

func (a Alarm) evaluate(points []Point, from, to time.Time, extra int) []Change {
	if a.Query == nil {
		of, minus := a.Metric.minutes(points), minutes{}
		if a.Minus != nil {
			minus = a.Minus.minutes(points)
		}
		return a.states(func(end time.Time) (float64, bool) {
			v, there := of.window(end, a.Period, a.Metric.Statistic)
			less, _ := minus.window(end, a.Period, a.Metric.Statistic)
			return v - less, there
		}, from, to, extra)
	}
	byContributor := map[string][]Point{}
	for _, p := range points {
		if a.Query.matches(p) {
			key := p.Dimensions[a.Query.GroupBy]
			byContributor[key] = append(byContributor[key], p)
		}
	}
	var all []Change
	for _, key := range slices.Sorted(maps.Keys(byContributor)) {
		of := a.Query.minutes(byContributor[key])
		changes := a.states(func(end time.Time) (float64, bool) {
			return of.window(end, a.Period, a.Query.Statistic)
		}, from, to, extra)
		for i := range changes {
			changes[i].Contributor = key
		}
		all = append(all, changes...)
	}
	return all
}

func (m Metric) matches(p Point) bool {
	if p.Namespace != m.Namespace || p.Metric != m.Name || len(p.Dimensions) != len(m.Dimensions) {
		return false
	}
	for name, v := range m.Dimensions {
		if has, there := p.Dimensions[name]; !there || v != "" && has != v {
			return false
		}
	}
	return true
}

// minutes are a metric's points, aggregated by the minute in order: CloudWatch keeps no more.
type minutes []aggregate

type aggregate struct {
	at            time.Time
	sum, min, max float64
}

func (m Metric) minutes(points []Point) minutes {
	var all minutes
	for _, p := range points { // in the order of time
		if !m.matches(p) {
			continue
		}
		at := p.At.Truncate(time.Minute)
		if n := len(all); n > 0 && all[n-1].at.Equal(at) {
			last := &all[n-1]
			last.sum, last.min, last.max = last.sum+p.Value, min(last.min, p.Value), max(last.max, p.Value)
			continue
		}
		all = append(all, aggregate{at, p.Value, p.Value, p.Value})
	}
	return all
}

// window is the statistic of the period that ends at an instant; false where it has no point.
func (all minutes) window(end time.Time, period time.Duration, statistic string) (v float64, there bool) {
	from := end.Add(-period)
	first, _ := slices.BinarySearchFunc(all, from, func(a aggregate, t time.Time) int { return a.at.Compare(t) })
	for _, a := range all[first:] {
		switch {
		case !a.at.Before(end):
			return v, there
		case !there && statistic == "Maximum":
			v = a.max
		case statistic == "Maximum":
			v = max(v, a.max)
		case !there && statistic == "Minimum":
			v = a.min
		case statistic == "Minimum":
			v = min(v, a.min)
		default:
			v += a.sum
		}
		there = true
	}
	return v, there
}

// states steps through the minutes.
func (a Alarm) states(value func(end time.Time) (float64, bool), from, to time.Time, extra int) []Change {
	var changes []Change
	state, latest := InsufficientData, time.Time{}
	slots := make([]slot, a.Periods+extra)
	for end := from.Truncate(time.Minute).Add(time.Minute); !end.After(to); end = end.Add(time.Minute) {
		for i := range slots { // the newest first
			v, there := value(end.Add(-time.Duration(i) * a.Period))
			slots[i] = slot{missing: !there, breaching: there && a.breaches(v)}
		}
		if !slots[0].missing {
			latest = end
		}
		if a.Query != nil && latest.IsZero() {
			continue // no such series yet
		}
		next := judge(slots, a.Periods, a.ToAlarm, a.Missing, state)
		if a.Query != nil && end.Sub(latest) >= contributorSight { // nor any more
			next = OK
		}
		if next != state {
			state = next
			changes = append(changes, Change{At: end, Alarm: a.Name, To: state})
		}
	}
	return changes
}

func (a Alarm) breaches(v float64) bool {
	switch a.Operator {
	case "GreaterThanThreshold":
		return v > a.Threshold
	case "GreaterThanOrEqualToThreshold":
		return v >= a.Threshold
	case "LessThanThreshold":
		return v < a.Threshold
	}
	panic("alarm " + a.Name + ": operator " + a.Operator)
}

// slot is a data point, or the place of one.
type slot struct{ missing, breaching bool }

// judge is the documented rule over the data points of the evaluation range, the newest first.
func judge(slots []slot, n, m int, treatment string, state State) State {
	there, breaching, oldest := 0, 0, -1
	for age, s := range slots {
		if s.missing {
			continue
		}
		if there == n { // enough of them: older ones do not count
			break
		}
		there++
		if s.breaching {
			breaching, oldest = breaching+1, age
		}
	}
	alarmIf := func(yes bool) State {
		if yes {
			return InAlarm
		}
		return OK
	}
	missing := n - there
	premature := breaching == there && oldest+1 >= m // breaching points alone, and old enough
	switch {
	case missing == 0 || breaching >= m || treatment == "notBreaching":
		return alarmIf(breaching >= m)
	case treatment == "breaching":
		return alarmIf(breaching+missing >= m)
	case there == 0 && treatment == "ignore", breaching == there && treatment == "ignore":
		return state
	case there == 0:
		return InsufficientData
	}
	return alarmIf(premature)
}

// InAlarmAt lists the alarms that are on at an instant, a contributor behind a slash.
func InAlarmAt(changes []Change, at time.Time) []string {
	on := map[string]State{}
	for _, c := range changes {
		if !c.At.After(at) {
			on[c.label()] = c.To
		}
	}
	var names []string
	for name, state := range on {
		if state == InAlarm {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (c Change) label() string { return strings.TrimSuffix(c.Alarm+"/"+c.Contributor, "/") }
