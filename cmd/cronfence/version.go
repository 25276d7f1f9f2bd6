package main

import (
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// version is what the binary knows of its own making.
type version struct {
	Version  string `json:"version"` // of the module; "(devel)" when built from a checkout
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
}

func newVersionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "What this is",
		Long: `Tells the version of the module that this was built from, the revision where it was built in a
checkout, and the Go that built it.

With --json it writes one document: version, revision, modified, go.`,
		Example: `  cronfence version
  cronfence version --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := readVersion()
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), v)
			}
			return say(cmd, strings.Join(strings.Fields("cronfence "+v.Version+" "+v.Revision+" "+v.Go), " "))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON document")
	return cmd
}

func readVersion() version {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version{Version: "unknown"}
	}
	v := version{Version: info.Main.Version, Go: info.GoVersion}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
