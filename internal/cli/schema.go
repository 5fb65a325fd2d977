package cli

import (
	"github.com/spf13/cobra"

	"parlance/internal/mapping"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of mapping files, for completion in an editor",
		Long: `Schema prints the JSON Schema of mapping files. An editor that knows the YAML language server
(VS Code with the YAML extension, Neovim, Helix, ...) completes keys, explains them and marks
mistakes in a mapping that begins with this line:

  # yaml-language-server: $schema=schema.json

The schema knows keys, shapes and words. What a selector or a pattern means, check knows.`,
		Example: `  parlance schema > ~/.config/parlance/mappings/schema.json`,
		Args:    args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := a.out.Write(mapping.Schema())
			return err
		},
	}
}
