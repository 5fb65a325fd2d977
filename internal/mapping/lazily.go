package mapping

import (
	"regexp"
	"sync"
)

// lazily gives an expression that is compiled when it is first used. Most of those that take
// long are for drafts and explanations, and no start should wait for them.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
