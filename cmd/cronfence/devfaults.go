package main

import (
	"fmt"
	"strings"

	"github.com/cronfence/cronfence/internal/localcloud"
	"github.com/cronfence/cronfence/internal/localcloud/fault"
)

// parseFaults reads the values of --fault.
func parseFaults(texts []string) ([]fault.Fault, error) {
	var all []fault.Fault
	for _, text := range texts {
		f, err := fault.Parse(text)
		if err != nil {
			return nil, usagef("--%w", err)
		}
		all = append(all, f)
	}
	return all, nil
}

// addFaults asks a local cloud for them: only it knows the jobs. None is asked for where one is
// wrong.
func addFaults(cloud *localcloud.Cloud, all []fault.Fault) error {
	for _, f := range all {
		if err := cloud.Faults().Check(f); err != nil {
			return usagef("--fault %q: %w", f, err)
		}
	}
	for _, f := range all {
		if _, err := cloud.Faults().Add(f); err != nil {
			return fmt.Errorf("add fault %q: %w", f, err)
		}
	}
	return nil
}

// faultHelp is the catalog as help shows it.
func faultHelp() string {
	var b strings.Builder
	for _, d := range fault.Catalog {
		fmt.Fprintf(&b, "  %s\n      %s\n", d.Example, d.Does)
	}
	return b.String()
}
