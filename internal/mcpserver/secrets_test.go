package mcpserver

import (
	"strings"
	"testing"

	"parlance/internal/chat"
	"parlance/internal/render"
)

// TestPagesCutNoSecretFromItsName: what tells a secret may be a name before it; a page that
// ends between the two hands out neither half, and counts it.
func TestPagesCutNoSecretFromItsName(t *testing.T) {
	password := "Wad3r-" + "kolk!77"
	o := options(t)
	o.Redact = render.Secrets
	s, err := newTalker(newSlow(), &syncBuffer{}, o)
	if err != nil {
		t.Fatal(err)
	}
	for shift := -30; shift <= 30; shift += 3 {
		for _, role := range []chat.Role{chat.ToolResult, chat.Assistant} {
			c := &chat.Conversation{Provider: "acme", ID: "7", Messages: []chat.Message{{Role: chat.User, Text: "go"},
				{Role: role, Tool: "shell", Text: strings.Repeat("r", pieceBytes-20+shift) + " DB_PASSWORD=" + password + " " + strings.Repeat("e", 2*pieceBytes)}}}
			all := ""
			for page := 1; ; page++ {
				text, err := s.page(c, page)
				if err != nil {
					break
				}
				all += text
			}
			if strings.Contains(all, "Wad3r") || strings.Contains(all, "kolk") || strings.Count(all, "[redacted: password]") != 1 || !strings.Contains(all, "1 secret redacted (1 password)") {
				i := strings.Index(all, "DB_PASS")
				t.Errorf("%s, %d: %q", role, shift, all[max(0, i-50):min(len(all), i+300)])
			}
		}
	}
}
