// Package example holds the synthesized assembly of the example app, so that the local
// cloud runs it without Node.js. infra/app writes it and a test there holds it equal to
// what the app synthesizes.
package example

import "embed"

// Assembly is the example's manifest and template, asset hashes normalised.
//
//go:embed manifest.json *.template.json
var Assembly embed.FS
