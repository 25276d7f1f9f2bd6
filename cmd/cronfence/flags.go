package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// allowedKey is the annotation of a flag that says what its values must be.
const allowedKey = "allowed"

// allowed says what a flag's values must be, for those that cannot even be read.
func allowed(cmd *cobra.Command, flag, text string) {
	if err := cmd.Flags().SetAnnotation(flag, allowedKey, []string{text}); err != nil {
		panic(err) // no such flag
	}
}

// flagError says what is wrong with a flag in a line, without the words of the parser.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return usagef("%w; see `%s --help`", err, cmd.CommandPath())
	}
	flag := invalid.GetFlag()
	return usagef("--%s %q: %s", flag.Name, invalid.GetValue(), mustBe(flag))
}

func mustBe(flag *pflag.Flag) string {
	if text := flag.Annotations[allowedKey]; len(text) > 0 {
		return text[0]
	}
	switch kind := flag.Value.Type(); kind {
	case "duration":
		return "must be a duration, such as 90s or 6h"
	case "bool":
		return "must be true or false"
	case "int":
		return "must be a whole number"
	default:
		return fmt.Sprintf("must be a %s", kind)
	}
}
