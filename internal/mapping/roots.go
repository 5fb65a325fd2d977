package mapping

import (
	"fmt"
	"io/fs"
	"strings"

	"gopkg.in/yaml.v3"
)

// rootsFile stands among the built-in mappings.
const rootsFile = "common/roots.yaml"

// NamedRoots reads the named roots that stand beside the built-in mappings, for Env.Named.
func NamedRoots(fsys fs.FS) (map[string][]string, error) {
	data, err := fs.ReadFile(fsys, rootsFile)
	if err != nil {
		return nil, fmt.Errorf("named roots: %w", err)
	}
	var roots map[string][]string
	if err := yaml.Unmarshal(data, &roots); err != nil {
		return nil, fmt.Errorf("%s: %w", rootsFile, err)
	}
	for name, patterns := range roots {
		if !isVariableName(name) || name == rootVariable {
			return nil, fmt.Errorf("%s: %q is no name for a root", rootsFile, name)
		}
		for _, p := range patterns {
			if !strings.HasPrefix(p, "~/") && !strings.HasPrefix(p, "${") && !isAbs(p) {
				return nil, fmt.Errorf(`%s: %s: %q: a root starts with "~/", "${NAME}" or "/"`, rootsFile, name, p)
			}
		}
	}
	return roots, nil
}
