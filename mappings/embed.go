// Package mappings holds the built-in mapping files, one per provider, and in common the
// tables that several of them share. There is no code in it: it exists because go:embed
// cannot reach a parent folder.
package mappings

import "embed"

// FS holds *.yaml and common/*.yaml.
//
//go:embed *.yaml common/*.yaml
var FS embed.FS
