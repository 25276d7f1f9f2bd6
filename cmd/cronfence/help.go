package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// newHelpCommand is cobra's help verb, but for a name that is no verb's: that is wrong usage.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]",
		Short: "Help about a verb",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			of, rest, err := root.Find(args)
			switch {
			case err != nil || len(rest) > 0 && of == root:
				return unknownVerb(root, args[0])
			case len(rest) > 0:
				return usagef("unexpected argument %q; see `%s --help`", rest[0], of.CommandPath())
			}
			of.InitDefaultHelpFlag() // else the help does not show it
			return of.Help()
		},
		Long: "Shows what a verb does, what it takes and how it ends; without VERB, what verbs there are.",
		Example: `  cronfence help
  cronfence help backfill`,
	}
}

func unknownVerb(root *cobra.Command, name string) error {
	return usagef("unknown verb %q: must be one of %s", name, strings.Join(verbs(root), ", "))
}

var shells = []string{"bash", "zsh", "fish", "powershell"}

// newCompletionCommand is in place of cobra's, which takes any shell and does nothing for it.
func newCompletionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Completion of the command line for a shell",
		Long:  "Writes the script that completes the command line in a shell: " + strings.Join(shells, ", ") + ".",
		Example: `  source <(cronfence completion bash)
  cronfence completion zsh > "${fpath[1]}/_cronfence"
  cronfence completion fish > ~/.config/fish/completions/cronfence.fish
  cronfence completion powershell | Out-String | Invoke-Expression`,
		ValidArgs: shells,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("completion: must have one argument, one of %s", strings.Join(shells, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return usagef("completion %q: must be one of %s", args[0], strings.Join(shells, ", "))
		},
	}
}
