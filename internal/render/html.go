package render

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"io"
	"strings"

	"parlance/internal/chat"
)

// NewHTML makes a Printer of one page that holds all it needs: no script, nothing from
// elsewhere, and a policy that forbids both. Tool calls and results are folded. Several
// conversations may be printed one after the other; End ends the page.
func NewHTML(w io.Writer, o ShowOptions) *Printer {
	o.Clean = true // what hides in text or turns its direction is no better on a page
	return &Printer{out: sink{w: w}, o: o, style: &page{}, counts: tally{}}
}

// HTML prints a conversation as NewHTML does.
func HTML(w io.Writer, c *chat.Conversation, o ShowOptions) error {
	return NewHTML(w, o).print(c)
}

// page is the style of a page. Behind its head one section is always open: each turn closes
// it and opens its own, so that a piece can be made before it is known whether it fits.
type page struct{ begun bool }

func (p *page) head(title string, facts [][2]string) string {
	var b strings.Builder
	if !p.begun {
		b.WriteString("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
			"<meta http-equiv=\"Content-Security-Policy\" content=\"" + pagePolicy + "\">\n" +
			"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
			"<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n" +
			"<title>" + html.EscapeString(title) + "</title>\n<style>" + pageStyle + "</style>\n</head>\n<body>\n<main>\n")
	} else {
		b.WriteString("</section>\n<hr>\n")
	}
	p.begun = true
	b.WriteString("<section class=\"head\">\n<h1 dir=\"auto\">" + html.EscapeString(title) + "</h1>\n<dl>\n")
	for _, fact := range facts {
		b.WriteString("<div><dt>" + html.EscapeString(fact[0]) + "</dt><dd>" + html.EscapeString(fact[1]) + "</dd></div>\n")
	}
	b.WriteString("</dl>\n")
	return b.String()
}

func (*page) turn(heading, when string) string {
	role, mark, _ := strings.Cut(heading, " ")
	class := strings.ToLower(role)
	if strings.Contains(mark, "abandoned") {
		class += " abandoned"
	}
	if mark != "" {
		mark = " <i>" + html.EscapeString(mark) + "</i>"
	}
	return "</section>\n<section class=\"" + class + "\">\n<h2>" + html.EscapeString(role) + mark + timeTag(when) + "</h2>\n"
}

func timeTag(when string) string {
	if when == "" {
		return ""
	}
	return " <time>" + html.EscapeString(when) + "</time>"
}

func (*page) prose(name, when, text string) string {
	var b strings.Builder
	b.WriteString("<div class=\"said\">\n")
	if name != "" {
		b.WriteString("<p class=\"name\">" + html.EscapeString(name) + timeTag(when) + "</p>\n")
	} else if when != "" {
		b.WriteString("<p class=\"name\">" + timeTag(when) + "</p>\n")
	}
	for _, part := range fenced(strings.Trim(text, "\n")) {
		if part.code {
			b.WriteString("<pre><code>" + html.EscapeString(part.text) + "</code></pre>\n")
		} else if text := strings.Trim(part.text, "\n"); text != "" {
			b.WriteString("<div class=\"text\" dir=\"auto\">" + html.EscapeString(text) + "</div>\n")
		}
	}
	b.WriteString("</div>\n")
	if name == reasoningName {
		return strings.Replace(b.String(), "said", "said reasoning", 1)
	}
	return b.String()
}

func (*page) block(name, when, language, text string) string {
	label := html.EscapeString(name) + timeTag(when)
	if text == "" {
		return "<p class=\"name\">" + label + " <i>(empty)</i></p>\n"
	}
	class := ""
	if strings.HasSuffix(name, "(failed)") {
		class = " class=\"failed\""
	}
	body := html.EscapeString(strings.TrimSuffix(text, "\n"))
	if language == "diff" {
		body = colored(strings.TrimSuffix(text, "\n"))
	}
	return "<details" + class + ">\n<summary>" + label + " <span class=\"peek\">" + html.EscapeString(chat.Preview(text)) + "</span></summary>\n" +
		"<pre>" + body + "</pre>\n</details>\n"
}

func (*page) note(text string) string {
	return "<p class=\"note\">" + html.EscapeString(text) + "</p>\n"
}

func (p *page) end() string {
	if !p.begun {
		return ""
	}
	return "</section>\n</main>\n</body>\n</html>\n"
}

// colored marks the lines that a diff takes away and adds.
func colored(diff string) string {
	var b strings.Builder
	for i, l := range strings.Split(diff, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		switch {
		case strings.HasPrefix(l, "+"):
			b.WriteString("<ins>" + html.EscapeString(l) + "</ins>")
		case strings.HasPrefix(l, "-"):
			b.WriteString("<del>" + html.EscapeString(l) + "</del>")
		default:
			b.WriteString(html.EscapeString(l))
		}
	}
	return b.String()
}

// A textPart is prose, or what stands in a fenced block of it.
type textPart struct {
	code bool
	text string
}

// fenced cuts a text at its fenced blocks. One that is left open reaches to the end.
func fenced(text string) []textPart {
	var parts []textPart
	open, from := "", 0
	add := func(to int) {
		if part := text[from:to]; part != "" {
			parts = append(parts, textPart{open != "", strings.TrimSuffix(part, "\n")})
		}
	}
	for _, m := range fenceLine.FindAllStringSubmatchIndex(text, -1) {
		fence, rest := text[m[2]:m[3]], strings.TrimSpace(text[m[4]:m[5]])
		next := min(m[1]+1, len(text))
		switch {
		case open == "" && !(fence[0] == '`' && strings.Contains(rest, "`")):
			add(m[0])
			open, from = fence, next
		case open != "" && fence[0] == open[0] && len(fence) >= len(open) && rest == "":
			add(m[0])
			open, from = "", next
		}
	}
	add(len(text))
	return parts
}

// pagePolicy allows the one style sheet that stands in the page, and nothing else.
var pagePolicy = "default-src 'none'; style-src 'sha256-" + styleHash() + "'; base-uri 'none'; form-action 'none'"

func styleHash() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// pageStyle is the style sheet: system fonts, one column that fits a phone, colours by what
// the reader prefers, and paper without folds.
const pageStyle = `
:root{color-scheme:light dark;--ink:#1c1e21;--soft:#5b6168;--paper:#fff;--panel:#f4f5f7;--line:#dcdfe3;--user:#2257b0;--assistant:#2f6f4f;--other:#7a5b13;--bad:#b3261e;--add:#e3f4e8;--cut:#fbe6e4}
@media (prefers-color-scheme:dark){:root{--ink:#e4e6e9;--soft:#9aa2ab;--paper:#14161a;--panel:#1e2126;--line:#343941;--user:#8db4f5;--assistant:#8fd0ac;--other:#d9b76a;--bad:#f2938c;--add:#15351f;--cut:#451d1b}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;-webkit-text-size-adjust:100%;text-size-adjust:100%}
main{max-width:54rem;margin:0 auto;padding:1.25rem 1rem 4rem}
h1{font-size:1.45rem;line-height:1.3;margin:.25rem 0 1rem;overflow-wrap:anywhere}
dl{display:grid;gap:.1rem 0;margin:0 0 1.5rem;padding:.75rem .9rem;background:var(--panel);border-radius:.5rem;font-size:.875rem}
dl div{display:grid;grid-template-columns:6.5rem 1fr;gap:.5rem}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.8125rem}
hr{border:0;border-top:2px solid var(--line);margin:3rem 0 2rem}
section{margin:1.5rem 0}
section:not(.head){border-left:.2rem solid var(--line);padding-left:.9rem}
section.user{border-color:var(--user)}
section.assistant{border-color:var(--assistant)}
section.system,section.compaction{border-color:var(--other)}
section.abandoned{border-left-style:dashed;opacity:.85}
h2{font-size:.9rem;margin:0 0 .35rem;color:var(--soft)}
.user>h2{color:var(--user)}.assistant>h2{color:var(--assistant)}.system>h2,.compaction>h2{color:var(--other)}
h2 i,p i{font-weight:400}
time{color:var(--soft);font-weight:400;font-size:.8rem;margin-left:.4rem;white-space:nowrap;font-variant-numeric:tabular-nums}
p>time:first-child{margin-left:0}
.said{margin:.5rem 0}
.text{white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:plaintext}
.reasoning{color:var(--soft);border-left:.15rem dotted var(--line);padding-left:.75rem}
.name,.note{margin:.5rem 0 .1rem;color:var(--soft);font-size:.875rem}
.note{font-style:italic}
pre{margin:.4rem 0;padding:.65rem .8rem;background:var(--panel);border-radius:.4rem;white-space:pre-wrap;overflow-wrap:anywhere;tab-size:4;font:.8125rem/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{font:inherit}
ins,del{text-decoration:none}
ins{background:var(--add)}
del{background:var(--cut)}
details{margin:.4rem 0;border:1px solid var(--line);border-radius:.4rem}
summary{padding:.35rem .65rem;cursor:pointer;font-size:.875rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
details[open]>summary{border-bottom:1px solid var(--line);white-space:normal}
details>pre{margin:0;background:none}
details.failed>summary{color:var(--bad)}
.peek{color:var(--soft);font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.78rem;margin-left:.4rem}
details[open] .peek{display:none}
@media (max-width:30rem){main{padding:.75rem .75rem 3rem}dl div{grid-template-columns:5rem 1fr}section:not(.head){padding-left:.65rem}details:not([open])>summary time{display:none}}
@media print{:root{--ink:#000;--soft:#444;--paper:#fff;--panel:#f6f6f6;--line:#bbb;--user:#123f87;--assistant:#1d5136;--other:#5c430b;--bad:#8c1d17;--add:#eaf7ee;--cut:#fcecea}
body{font-size:10.5pt}main{max-width:none;padding:0}section.abandoned{opacity:1}details::details-content{content-visibility:visible;height:auto;display:block}.peek{display:none}
h2,summary{break-after:avoid}dl,summary{break-inside:avoid}}
`
