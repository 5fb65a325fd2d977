// Parlance searches, shows and forks the conversations of every coding agent on this machine.
package main

import (
	"os"

	"parlance/internal/cli"
)

func main() { os.Exit(cli.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
