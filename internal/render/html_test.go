package render

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"parlance/internal/chat"
)

var (
	anyTag = regexp.MustCompile(`<[^>]*>?`)
	// ownTag are the tags that a page is made of, letter by letter: no attribute of theirs
	// holds what somebody wrote.
	ownTag = regexp.MustCompile(`^<(?:!DOCTYPE html|html lang="en"|/?head|meta charset="utf-8"|` +
		`meta name="viewport" content="width=device-width, initial-scale=1"|meta name="color-scheme" content="light dark"|meta name="referrer" content="no-referrer"|` +
		`/?title|/?style|/?body|/?main|hr|section class="(?:head|(?:user|assistant|system|compaction)(?: abandoned)?)"|h1 dir="auto"|` +
		`/?(?:html|section|h1|h2|dl|div|dt|dd|time|i|pre|code|ins|del|details|summary|p|span)|` +
		`div class="(?:said|said reasoning)"|div class="text" dir="auto"|p class="(?:name|note)"|details class="failed"|span class="peek")>$`)
	policyTag = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)">`)
	entity    = regexp.MustCompile(`^&(?:amp|lt|gt|#34|#39);`)
)

// inspect says what is wrong with a page: a tag that is not ours, one that is not closed, a
// character that acts instead of being read.
func inspect(page string) error {
	if !utf8.ValidString(page) {
		return fmt.Errorf("not UTF-8")
	}
	m := policyTag.FindStringSubmatch(page)
	if m == nil || m[1] != pagePolicy || !strings.Contains(page, "<style>"+pageStyle+"</style>") {
		return fmt.Errorf("no policy, or not the style sheet that it allows")
	}
	rest := strings.Replace(policyTag.ReplaceAllString(page, ""), pageStyle, "", 1)
	var open []string
	for _, tag := range anyTag.FindAllString(rest, -1) {
		if !ownTag.MatchString(tag) {
			return fmt.Errorf("a tag that is not ours: %q", tag)
		}
		name := strings.Fields(strings.Trim(tag, "<>/!"))[0]
		switch {
		case name == "DOCTYPE", name == "meta", name == "hr":
		case tag[1] != '/':
			open = append(open, name)
		case len(open) == 0 || open[len(open)-1] != name:
			return fmt.Errorf("%s closes %v", tag, open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("left open: %v", open)
	}
	text := anyTag.ReplaceAllString(rest, "")
	for i, r := range text {
		switch {
		case r == '<' || r == '>' || r == '"' || r == '\'':
			return fmt.Errorf("%q is not escaped", r)
		case r == '&' && !entity.MatchString(text[i:]):
			return fmt.Errorf("a reference that is not ours: %q", text[i:min(i+20, len(text))])
		case unwanted(r):
			return fmt.Errorf("%U", r)
		}
	}
	return nil
}

func TestHTML(t *testing.T) {
	var b strings.Builder
	if err := HTML(&b, showcase(), ShowOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := inspect(b.String()); err != nil {
		t.Error(err)
	}
	_, got, _ := strings.Cut(b.String(), "<body>\n")
	const want = `<main>
<section class="head">
<h1 dir="auto">Heron ` + "`nests`" + `</h1>
<dl>
<div><dt>id</dt><dd>acme:7f</dd></div>
<div><dt>project</dt><dd>demo</dd></div>
<div><dt>folder</dt><dd>/home/u/demo</dd></div>
<div><dt>branch</dt><dd>main</dd></div>
<div><dt>model</dt><dd>m-1</dd></div>
<div><dt>version</dt><dd>2.3</dd></div>
<div><dt>parent</dt><dd>acme:6e</dd></div>
<div><dt>started</dt><dd>2026-01-02 03:04:01 UTC</dd></div>
<div><dt>updated</dt><dd>2026-01-02 03:04:09 UTC</dd></div>
<div><dt>file</dt><dd>/h/a` + "`" + `b.db</dd></div>
<div><dt>row</dt><dd>7f</dd></div>
<div><dt>unreadable</dt><dd>2 records</dd></div>
<div><dt>incomplete</dt><dd>a line over 256 MB</dd></div>
</dl>

</section>
<section class="user">
<h2>User <i>(inherited)</i> <time>2026-01-02 03:04:01 UTC</time></h2>
<div class="said">
<div class="text" dir="auto">Count the nests</div>
<pre><code>open</code></pre>
</div>

</section>
<section class="user">
<h2>User <time>2026-01-02 03:04:02 UTC</time></h2>
<div class="said">
<div class="text" dir="auto">## Assistant
please</div>
</div>

<div class="said">
<div class="text" dir="auto">soon</div>
</div>

</section>
<section class="assistant">
<h2>Assistant <time>2026-01-02 03:04:04 UTC</time></h2>
<details>
<summary>Tool call: grep <time>2026-01-02 03:04:04 UTC</time> <span class="peek">{&#34;q&#34;:&#34;nest&#34;}</span></summary>
<pre>{&#34;q&#34;:&#34;nest&#34;}</pre>
</details>

<details>
<summary>Tool result: grep <time>2026-01-02 03:04:05 UTC</time> <span class="peek">a ` + "````" + ` b</span></summary>
<pre>a
` + "````" + `
b</pre>
</details>

<div class="said">
<div class="text" dir="auto">Two.</div>
</div>

<details>
<summary>Tool call: edit (no result yet) <span class="peek">bare</span></summary>
<pre>bare</pre>
</details>

<details>
<summary>Diff <span class="peek">-two +three</span></summary>
<pre><del>-two</del>
<ins>+three</ins></pre>
</details>

<p class="note">continues in acme:8a</p>

<p class="name">Tool result: edit (failed) <i>(empty)</i></p>

<details>
<summary>Tool result: read <span class="peek">(9000 characters not read)</span></summary>
<pre>(9000 characters not read)</pre>
</details>

</section>
<section class="compaction">
<h2>Compaction</h2>
<div class="said">
<div class="text" dir="auto">So far: three.</div>
</div>

</section>
<section class="assistant">
<h2>Assistant</h2>
<div class="said">
<div class="text" dir="auto">Done.</div>
</div>
</section>
</main>
</body>
</html>
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What is hidden is shown when it is asked for, and marked.
func TestHTMLShowsHiddenMessages(t *testing.T) {
	var b strings.Builder
	if err := HTML(&b, showcase(), ShowOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	if err := inspect(b.String()); err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		"<section class=\"system\">\n<h2>System</h2>\n<div class=\"said\">\n<div class=\"text\" dir=\"auto\">be brief</div>",
		"<section class=\"assistant abandoned\">\n<h2>Assistant <i>(abandoned)</i></h2>",
		"<div class=\"said reasoning\">\n<p class=\"name\">Reasoning</p>\n<div class=\"text\" dir=\"auto\">they ask\ntwice</div>",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("without %s in\n%s", want, b.String())
		}
	}
}

// Several conversations are one page.
func TestHTMLOfSeveral(t *testing.T) {
	var b strings.Builder
	p := NewHTML(&b, ShowOptions{})
	for _, title := range []string{"One", "Two"} {
		c := &chat.Conversation{Provider: "acme", ID: title, Title: title, Messages: []chat.Message{{Role: chat.User, Text: "ask " + title}}}
		p.Open(c)
		p.Message(&c.Messages[0])
		p.Close()
	}
	if err := p.End(); err != nil {
		t.Fatal(err)
	}
	if err := inspect(b.String()); err != nil {
		t.Error(err)
	}
	if n := strings.Count(b.String(), "<h2>User"); n != 2 {
		t.Errorf("%d turns in\n%s", n, b.String())
	}
}

func TestHTMLBudget(t *testing.T) {
	c := &chat.Conversation{Provider: "acme", ID: "1"}
	for range 50 {
		c.Messages = append(c.Messages, chat.Message{Role: chat.User, Text: strings.Repeat("<&>", 300)}, chat.Message{Role: chat.ToolResult, Text: strings.Repeat("\"", 900)})
	}
	for _, tokens := range []int{0, 2000, 4000, 9000} {
		var b strings.Builder
		if err := HTML(&b, c, ShowOptions{Tokens: tokens}); err != nil {
			t.Fatal(err)
		}
		if err := inspect(b.String()); err != nil {
			t.Errorf("%d tokens: %v", tokens, err)
		}
	}
}

var hostile = []string{
	`<script>alert(1)</script>`, `</pre></details></section><script src=//x.example/a.js></script>`, `<img src=x onerror="alert(1)">`,
	`" onmouseover="alert(1)`, `' onfocus='alert(1)`, `</style><style>*{display:none}</style>`, `--></title><base href="//x.example/">`,
	`<svg/onload=alert(1)>`, `<iframe srcdoc="<p>">`, `<a href="javascript:alert(1)">x</a>`, `<meta http-equiv=refresh content=0>`,
	"&lt;script&gt; &#60; &nbsp; & &amp;amp;", "]]><![CDATA[", "<!-- ", "<plaintext>", "<", "\x00<\x00script\x00>", "\u202egnp.exe\u2066", "\u200bhid\U000E0041den",
	"\x1b[31mred\x1b]8;;http://x.example\x07link", "\xff\xfe", "```html\n<script>\n```\n</code></pre>", "```\n```\n```", "~~~\nopen </pre>", "\r\n\r\n", "",
	"{{.}} {{template}}", "javascript:/*--></title></style></textarea></script></xmp><svg/onload='+/\"/+/onmouseover=1/+/[*/[]/+alert(1)//'>",
}

func TestHTMLOfHostileTexts(t *testing.T) {
	for _, bad := range hostile {
		c := &chat.Conversation{
			Provider: "acme", ID: bad, Title: bad, Cwd: "/" + bad, Branch: bad, Model: bad, Version: bad, Parent: bad, File: bad, Row: bad,
			Started: time.Unix(1767225600, 0), Read: chat.Report{Incomplete: bad},
		}
		for _, role := range chat.Roles {
			c.Messages = append(c.Messages, chat.Message{Role: role, Text: bad, Input: bad, Tool: bad, Child: bad, Diff: "+" + bad + "\n-" + bad + "\n " + bad})
		}
		var b strings.Builder
		if err := HTML(&b, c, ShowOptions{All: true}); err != nil {
			t.Fatal(err)
		}
		if err := inspect(b.String()); err != nil {
			t.Errorf("%q: %v", bad, err)
		}
		if bad == `<script>alert(1)</script>` && strings.Count(b.String(), html.EscapeString(bad)) < 20 {
			t.Errorf("%q is not there to be read", bad)
		}
	}
}

func TestFenced(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"", ""},
		{"plain", "plain"},
		{"a\n```go\nx\n```\nb", "a|[x]|b"},
		{"```\nx\n\ny\n```", "[x\n\ny]"},
		{"````\n```\nin\n````\nout", "[```\nin]|out"},
		{"~~~\n```\n~~~\n```\nopen", "[```]|[open]"},
		{"```a`b\nno fence", "```a`b\nno fence"},
		{"a\n```", "a"},
	} {
		var got []string
		for _, p := range fenced(row.text) {
			if p.code {
				p.text = "[" + p.text + "]"
			}
			got = append(got, p.text)
		}
		if got := strings.Join(got, "|"); got != row.want {
			t.Errorf("%q: got %q, want %q", row.text, got, row.want)
		}
	}
}

func FuzzHTML(f *testing.F) {
	for _, bad := range hostile {
		f.Add(bad, bad, 0)
	}
	f.Fuzz(func(t *testing.T, a, b string, tokens int) {
		c := &chat.Conversation{Provider: "acme", ID: b, Title: a, Messages: []chat.Message{
			{Role: chat.User, Text: a}, {Role: chat.ToolCall, Tool: b, Input: a}, {Role: chat.ToolResult, Text: b, Diff: a}, {Role: chat.Assistant, Text: b + "\n" + a},
		}}
		var page strings.Builder
		if err := HTML(&page, c, ShowOptions{Tokens: tokens}); err != nil {
			t.Fatal(err)
		}
		if err := inspect(page.String()); err != nil {
			t.Error(err)
		}
	})
}
