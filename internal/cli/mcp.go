package cli

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"parlance/internal/mcpserver"
	"parlance/internal/render"
	"parlance/mappings"
)

func (a *app) mcpCommand() *cobra.Command {
	var host, addr string
	var verbose bool
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve agents over the Model Context Protocol on stdin and stdout",
		Long: `Mcp gives an agent the tools chat_search, chat_checkpoint and chat_fork, every conversation
as a resource, and two prompts. A host starts it; --print says what to write into a host's
configuration.`,
		Example: `  parlance mcp --print claude-code
  parlance mcp --http 127.0.0.1:7333   for hosts that cannot start a process`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("print") {
				return a.printHost(host)
			}
			h, err := a.open()
			if err != nil {
				return err
			}
			set, err := a.openSet()
			if err != nil {
				return err
			}
			o := mcpserver.Options{Version: programVersion(), Providers: set.Names(), Redact: render.Secrets, Verbose: verbose}
			if !cmd.Flags().Changed("http") {
				return mcpserver.Serve(cmd.Context(), h, a.in, a.out, a.err, o)
			}
			l, err := mcpserver.ListenHTTP(addr)
			if err != nil {
				return wrong("parlance mcp: %v", err)
			}
			fmt.Fprintf(a.err, "parlance mcp: http://%s/mcp answers every process on this machine; Ctrl-C ends it\n", l.Addr())
			return mcpserver.ServeHTTP(cmd.Context(), h, l, a.err, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&host, "print", "", "print the configuration of `HOST` ("+strings.Join(hostNames(), ", ")+")")
	f.StringVar(&addr, "http", "", "serve streamable HTTP at `ADDR`, such as 127.0.0.1:7333, instead; loopback only")
	f.BoolVar(&verbose, "verbose", false, "say on stderr what each call cost")
	return cmd
}

// A host is a program that starts `parlance mcp`, and how it is told to.
type host struct {
	Name, Title string
	Run         string // a command that configures it, "" if there is none
	File        string // where the block goes
	Docs        string // the host's own page on this
	Block       string
}

// readHosts reads the table of hosts. It is embedded, so that an error is a bug; a test reads it.
func readHosts() ([]host, error) {
	data, err := fs.ReadFile(mappings.FS, "common/hosts.yaml")
	if err != nil {
		return nil, err
	}
	var hosts []host
	if err := yaml.Unmarshal(data, &hosts); err != nil {
		return nil, fmt.Errorf("common/hosts.yaml: %w", err)
	}
	return hosts, nil
}

func hostNames() (names []string) {
	hosts, _ := readHosts()
	for _, h := range hosts {
		names = append(names, h.Name)
	}
	return names
}

// printHost prints a host's configuration: what is to be pasted on stdout, where it goes on stderr.
func (a *app) printHost(name string) error {
	hosts, err := readHosts()
	if err != nil {
		return err
	}
	for _, h := range hosts {
		if h.Name != name {
			continue
		}
		// Hosts with windows do not know a shell's PATH.
		program, err := os.Executable()
		if err != nil {
			program = "parlance"
		}
		command, err := quoted(program)
		if err != nil {
			return err
		}
		if h.Run != "" {
			fmt.Fprintf(a.err, "%s: run this:\n  %s\nor put the following into %s\n", h.Title, h.fill(h.Run, command), h.File)
		} else {
			fmt.Fprintf(a.err, "%s: put this into %s\n", h.Title, h.File)
		}
		fmt.Fprintf(a.err, "(%s)\n\n", h.Docs)
		_, err = fmt.Fprint(a.out, h.fill(h.Block, command))
		return err
	}
	return wrong("parlance mcp: --print %s: hosts are %s", name, strings.Join(hostNames(), ", "))
}

func (h host) fill(text, command string) string {
	return strings.ReplaceAll(text, "{{command}}", command)
}

// quoted is a path as a string of JSON and TOML.
func quoted(path string) (string, error) {
	b, err := json.Marshal(path)
	return string(b), err
}

// programVersion is the version that a build of a module knows, "devel" otherwise.
func programVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
