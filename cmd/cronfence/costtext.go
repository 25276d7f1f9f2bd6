package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/cronfence/cronfence/internal/cost"
)

// writeCost writes a line for each thing that is paid for, the sums, what they are of, and what
// others ask.
func writeCost(out io.Writer, job cost.Job, e cost.Estimate) error {
	if err := writeCostLines(out, e); err != nil {
		return err
	}
	s := screenOf(out)
	var b strings.Builder
	paragraph := func(format string, args ...any) { b.WriteString("\n" + s.wrap(fmt.Sprintf(format, args...), 0) + "\n") }
	paragraph("%s", runInWords(job, e))
	paragraph("A skip makes %d requests to DynamoDB and no transition. A month has %s and %s.", e.RequestsPerSkip, runs(e.RunsPerMonth), skips(e.SkipsPerMonth))
	paragraph("On top, once for all jobs of a scheduler, comes the scheduler itself: %.2f USD a month, %.2f without its dashboard, which is free among an account's first three.",
		e.Scheduler.USDPerMonth, e.Scheduler.USDPerMonthWithoutDashboard)
	for _, note := range e.Notes {
		b.WriteString("\n" + s.wrap("note: "+note, 2) + "\n")
	}
	paragraph("Prices of %s in %s, beyond the free tiers; Lambda times are assumed.", e.PricesOf, e.Region)
	b.WriteString("\n")
	if _, err := io.WriteString(out, b.String()); err != nil {
		return fmt.Errorf("write cost: %w", err)
	}
	return writeAlternatives(out, e)
}

// runInWords says what a run's machine is and what it comes to.
func runInWords(job cost.Job, e cost.Estimate) string {
	text := fmt.Sprintf("A run is %s (target %s, maximum run time %s): %d state transitions", e.Shape, e.Target, shortest(job.MaxRunTime), e.TransitionsPerRun)
	if e.ChainStates > 0 {
		text += fmt.Sprintf(", %d of them your chain's own,", e.ChainStates)
	}
	text += fmt.Sprintf(" and %d requests to DynamoDB", e.RequestsPerRun)
	switch {
	case e.BeatsPerRun == 1:
		text += "; its one beat is 2 and 1 of these"
	case e.BeatsPerRun > 1:
		text += fmt.Sprintf("; its %d beats are %d and %d of these", e.BeatsPerRun, 2*e.BeatsPerRun, e.BeatsPerRun)
	}
	return text + "."
}

func runs(n float64) string  { return howMany(n, "run") }
func skips(n float64) string { return howMany(n, "skip") }

// howMany writes a number of things a month: whole where there are many, with its fraction where there are few.
func howMany(n float64, what string) string {
	text := strconv.FormatFloat(n, 'f', 0, 64)
	if n < 10 {
		text = cost.Plain(n, 3)
	}
	if n == 1 {
		return text + " " + what
	}
	return text + " " + what + "s"
}

func writeCostLines(out io.Writer, e cost.Estimate) error {
	table := newColumns(out, column{name: "ITEM"}, column{name: "A RUN"}, column{name: "A SKIP", spare: 3}, column{name: "A MONTH", spare: 1},
		column{name: "USD A UNIT", spare: 2}, column{name: "USD, 1M RUNS"}, column{name: "USD A MONTH"})
	for _, l := range e.Lines {
		err := table.add(l.Item, units(l.PerRun), units(l.PerSkip), units(l.PerMonth), units(l.UnitPriceUSD), usd(l.USDPerMillionRuns), usd(l.USDPerMonth))
		if err != nil {
			return err
		}
	}
	if err := table.add("in all", "", "", "", "", usd(e.USDPerMillionRuns), usd(e.USDPerMonth)); err != nil {
		return err
	}
	return table.flush()
}

// writeAlternatives has what the job's ticks cost here and elsewhere, counted alike.
func writeAlternatives(out io.Writer, e cost.Estimate) error {
	table := newColumns(out, column{name: "THE SAME TICKS"}, column{name: "USD, 1M RUNS"}, column{name: "1M SKIPS"}, column{name: "USD A MONTH"})
	rows := [][]string{
		{"Cronfence", usd(e.USDPerMillionRuns), usd(e.USDPerMillionSkips), usd(e.USDPerMonth - e.USDPerMonthWatching)},
		{"  its metrics, alarms, sentinel", "", "", usd(e.USDPerMonthWatching)},
		{"Cronfence in all, one job", "", "", usd(e.USDPerMonth + e.Scheduler.USDPerMonth)},
	}
	for _, a := range e.Alternatives {
		rows = append(rows, []string{a.Name, usd(a.USDPerMillionRuns), usd(a.USDPerMillionSkips), usd(a.USDPerMonth)})
	}
	for _, row := range rows {
		if err := table.add(row...); err != nil {
			return err
		}
	}
	if err := table.flush(); err != nil {
		return err
	}
	s := screenOf(out)
	var b strings.Builder
	b.WriteString("\n")
	for _, a := range e.Alternatives {
		b.WriteString(s.wrap(a.Name+": "+a.Note, 2) + "\n")
	}
	if _, err := io.WriteString(out, b.String()); err != nil {
		return fmt.Errorf("write cost: %w", err)
	}
	return nil
}

// usd writes money: cents, and what is less than a cent as what it is.
func usd(n float64) string {
	if n > 0 && n < 0.01 {
		return cost.Plain(n, 2)
	}
	return strconv.FormatFloat(n, 'f', 2, 64)
}

// units writes a count or a price with three significant figures; none is empty.
func units(n float64) string {
	if n == 0 {
		return ""
	}
	return cost.Plain(n, 3)
}
