package main

import (
	"path/filepath"
	"strconv"
	"strings"
)

// --- Claude Code: one content block a line; a result is kept twice.

type claude struct {
	*writer
	parent string
}

func (c *claude) head(kind, stamp string) string {
	id := c.r.uuid()
	parent := "null"
	if c.parent != "" {
		parent = q(c.parent)
	}
	c.parent = id
	return `{"parentUuid":` + parent + `,"isSidechain":false,"userType":"external","cwd":` + q(projectOf(c.s)) + `,"sessionId":"` + c.s.id +
		`","version":"2.1.7","gitBranch":"main","type":"` + kind + `","uuid":"` + id + `","timestamp":"` + stamp + `"`
}
func (c *claude) open() {
	c.line(`{"type":"file-history-snapshot","messageId":"` + c.r.uuid() + `","snapshot":{"messageId":"` + c.r.uuid() + `","trackedFileBackups":{},"timestamp":"` + c.stamp() + `"},"isSnapshotUpdate":false}`)
}
func (c *claude) user(text, image string) {
	content := q(text)
	if image != "" {
		content = `[{"type":"text","text":` + q(text) + `},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + image + `"}}]`
	}
	c.line(c.head("user", c.stamp()) + `,"message":{"role":"user","content":` + content + `}}`)
}
func (c *claude) block(block string) {
	c.line(c.head("assistant", c.stamp()) + `,"requestId":"req_` + c.r.alnum(22) + `","message":{"id":"msg_` + c.r.alnum(22) +
		`","type":"message","role":"assistant","model":"claude-opus-4-5","content":[` + block +
		`],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":4,"cache_creation_input_tokens":512,"cache_read_input_tokens":` +
		strconv.Itoa(c.r.IntN(90000)) + `,"output_tokens":` + strconv.Itoa(c.r.IntN(900)) + `,"service_tier":"standard"}}}`)
}
func (c *claude) assistant(text string) { c.block(`{"type":"text","text":` + q(text) + `}`) }
func (c *claude) thought(text string) {
	c.block(`{"type":"thinking","thinking":` + q(text) + `,"signature":"` + blob(c.r, 400+c.r.IntN(800)) + `"}`)
}
func (c *claude) call(name, args string) string {
	id := "toolu_01" + c.r.alnum(22)
	if name == "chat_checkpoint" {
		name = "mcp__parlance__chat_checkpoint"
	} else {
		name = strings.ToUpper(name[:1]) + name[1:]
	}
	c.block(`{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":` + args + `}`)
	return id
}
func (c *claude) result(id, name, text, image string) {
	content := q(text)
	extra := ""
	if image != "" {
		content = `[{"type":"text","text":` + content + `},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + image + `"}}]`
	} else if name == "chat_checkpoint" {
		content = `[{"type":"text","text":` + content + `}]`
	} else if name == "read" && len(text) < mib {
		extra = `,"toolUseResult":{"type":"text","file":{"filePath":"/srv/x.go","content":` + content + `,"numLines":40,"startLine":1,"totalLines":40}}`
	} else if name == "bash" && len(text) < mib {
		extra = `,"toolUseResult":{"stdout":` + content + `,"stderr":"","interrupted":false,"isImage":false}`
	}
	if extra != "" {
		c.s.toolBytes += int64(len(text))
	}
	c.line(c.head("user", c.stamp()) + `,"message":{"role":"user","content":[{"tool_use_id":"` + id + `","type":"tool_result","content":` + content + `,"is_error":false}]}` + extra + `}`)
}
func (c *claude) noise() {
	c.line(c.head("system", c.stamp()) + `,"subtype":"turn_duration","content":"","isMeta":false,"durationMs":` + strconv.Itoa(c.r.IntN(90000)) + `}`)
}
func (c *claude) close() {
	c.line(`{"type":"summary","summary":` + q(c.v.prose(c.r, 40)) + `,"leafUuid":"` + c.parent + `"}`)
}

// --- Codex: messages twice (event and item), results as one string.

type codex struct{ *writer }

func (c *codex) item(kind, payload string) {
	c.line(`{"timestamp":"` + c.stamp() + `","type":"` + kind + `","payload":` + payload + `}`)
}
func (c *codex) open() {
	c.item("session_meta", `{"id":"`+c.s.id+`","timestamp":"`+c.stamp()+`","cwd":`+q(projectOf(c.s))+`,"originator":"codex_cli_rs","cli_version":"0.128.0","source":"cli","model_provider":"openai","base_instructions":{"text":`+q(c.v.prose(c.r, min(6000, int(c.s.target/8))))+`},"git":{"branch":"main"}}`)
	c.item("turn_context", `{"cwd":`+q(projectOf(c.s))+`,"approval_policy":"on-request","sandbox_policy":{"type":"workspace-write"},"model":"gpt-5.2-codex","effort":"high","summary":"auto"}`)
	c.item("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":`+q("<environment_context>\n  <cwd>"+projectOf(c.s)+"</cwd>\n  <shell>bash</shell>\n</environment_context>")+`}]}`)
}
func (c *codex) user(text, image string) {
	img := ""
	if image != "" {
		img = `,{"type":"input_image","image_url":"data:image/png;base64,` + image + `"}`
	}
	c.item("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":`+q(text)+`}`+img+`]}`)
	c.item("event_msg", `{"type":"user_message","message":`+q(text)+`,"images":[]}`)
}
func (c *codex) assistant(text string) {
	c.item("event_msg", `{"type":"agent_message","message":`+q(text)+`}`)
	c.item("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":`+q(text)+`}]}`)
}
func (c *codex) thought(text string) {
	c.item("event_msg", `{"type":"agent_reasoning","text":`+q(text)+`}`)
	c.item("response_item", `{"type":"reasoning","summary":[{"type":"summary_text","text":`+q(text)+`}],"content":null,"encrypted_content":"`+blob(c.r, 600+c.r.IntN(900))+`"}`)
}
func (c *codex) call(name, args string) string {
	id := "call_" + c.r.alnum(24)
	switch name {
	case "chat_checkpoint":
		name = "mcp__parlance__chat_checkpoint"
	case "bash", "grep", "read":
		name = "exec_command"
	}
	c.item("response_item", `{"type":"function_call","name":"`+name+`","arguments":`+q(args)+`,"call_id":"`+id+`"}`)
	return id
}
func (c *codex) result(id, name, text, image string) {
	if name != "chat_checkpoint" {
		text = "Chunk ID: " + c.r.hex(6) + "\nWall time: 0.2 seconds\nProcess exited with code 0\nOutput:\n" + text
	}
	c.item("response_item", `{"type":"function_call_output","call_id":"`+id+`","output":`+q(text)+`}`)
	if image != "" {
		c.item("response_item", `{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,`+image+`"}]}`)
	}
}
func (c *codex) noise() {
	c.item("event_msg", `{"type":"token_count","info":{"total_token_usage":{"input_tokens":`+strconv.Itoa(c.r.IntN(900000))+`,"cached_input_tokens":0,"output_tokens":500,"total_tokens":1000},"model_context_window":272000},"rate_limits":null}`)
}
func (c *codex) close() {}

// --- Gemini CLI: an indented document (older) or a record a line (newer).

type gemini struct {
	*writer
	doc     bool
	first   bool
	calls   map[string]string
	pending string
	thinks  string
}

func (g *gemini) open() {
	hash := strings.Split(g.s.path, string(filepath.Separator))[2]
	start := g.stamp()
	g.first, g.calls = true, map[string]string{}
	if g.doc {
		g.line("{\n  \"sessionId\": \"" + g.s.id + "\",\n  \"projectHash\": \"" + hash + "\",\n  \"startTime\": \"" + start + "\",\n  \"lastUpdated\": \"" + g.s.end.UTC().Format("2006-01-02T15:04:05.000Z") + "\",\n  \"messages\": [")
		return
	}
	g.line(`{"sessionId":"` + g.s.id + `","projectHash":"` + hash + `","startTime":"` + start + `","lastUpdated":"` + start + `","kind":"main"}`)
}
func (g *gemini) record(fields [][2]string) {
	var b strings.Builder
	if g.doc {
		if !g.first {
			b.WriteString("    ,\n")
		}
		b.WriteString("    {\n")
		for i, f := range fields {
			b.WriteString("      \"" + f[0] + "\": " + f[1])
			if i < len(fields)-1 {
				b.WriteString(",")
			}
			b.WriteString("\n")
		}
		b.WriteString("    }")
	} else {
		for i, f := range fields {
			if i == 0 {
				b.WriteString("{")
			} else {
				b.WriteString(",")
			}
			b.WriteString(`"` + f[0] + `":` + f[1])
		}
		b.WriteString("}")
	}
	g.first = false
	g.line(b.String())
}
func (g *gemini) user(text, image string) {
	parts := `[{"text":` + q(text) + `}`
	if image != "" {
		parts += `,{"inlineData":{"mimeType":"image/png","data":"` + image + `"}}`
	}
	g.record([][2]string{{"id", q(g.r.uuid())}, {"timestamp", q(g.stamp())}, {"type", `"user"`}, {"content", parts + "]"}})
}
func (g *gemini) emit(text, calls string) {
	thinks := "[" + g.thinks + "]"
	g.thinks = ""
	f := [][2]string{{"id", q(g.r.uuid())}, {"timestamp", q(g.stamp())}, {"type", `"gemini"`}, {"content", q(text)}, {"thoughts", thinks},
		{"tokens", `{"input":` + strconv.Itoa(g.r.IntN(90000)) + `,"output":120,"cached":0,"thoughts":30,"tool":0,"total":900}`}, {"model", `"gemini-3-pro-preview"`}}
	if calls != "" {
		f = append(f, [2]string{"toolCalls", "[" + calls + "]"})
	}
	g.record(f)
}
func (g *gemini) assistant(text string) { g.emit(text, "") }
func (g *gemini) thought(text string) {
	if g.thinks != "" {
		g.thinks += ","
	}
	g.thinks += `{"subject":"Weighing options","description":` + q(text) + `,"timestamp":"` + g.stamp() + `"}`
}
func (g *gemini) call(name, args string) string {
	id := name + "_" + strconv.FormatInt(g.now.UnixMilli(), 10) + "_" + g.r.hex(6)
	g.pending = args
	return id
}
func (g *gemini) result(id, name, text, image string) {
	res := `{"functionResponse":{"id":"` + id + `","name":"` + name + `","response":{"output":` + q(text) + `}}}`
	if image != "" {
		res += `,{"inlineData":{"mimeType":"image/png","data":"` + image + `"}}`
	}
	g.emit("", `{"id":"`+id+`","name":"`+name+`","args":`+g.pending+`,"result":[`+res+`],"status":"success","timestamp":"`+g.stamp()+`","resultDisplay":"","displayName":"`+name+`","description":"","renderOutputAsMarkdown":true}`)
}
func (g *gemini) noise() {
	g.record([][2]string{{"id", q(g.r.uuid())}, {"timestamp", q(g.stamp())}, {"type", `"info"`}, {"content", `"Request cancelled."`}})
}
func (g *gemini) close() {
	if g.doc {
		g.line("  ]\n}")
		return
	}
	g.line(`{"$set":{"lastUpdated":"` + g.stamp() + `"}}`)
}

// --- Pi: a tree of entries, results as their own message.

type pi struct {
	*writer
	parent string
}

func (p *pi) entry(kind, rest string) {
	id := p.r.hex(8)
	parent := "null"
	if p.parent != "" {
		parent = q(p.parent)
	}
	p.parent = id
	p.line(`{"type":"` + kind + `","id":"` + id + `","parentId":` + parent + `,"timestamp":"` + p.stamp() + `",` + rest + `}`)
}
func (p *pi) open() {
	p.line(`{"type":"session","version":3,"id":"` + p.s.id + `","timestamp":"` + p.stamp() + `","cwd":` + q(projectOf(p.s)) + `}`)
	p.entry("model_change", `"provider":"anthropic","modelId":"claude-opus-4-5"`)
}
func (p *pi) user(text, image string) {
	img := ""
	if image != "" {
		img = `,{"type":"image","data":"` + image + `","mimeType":"image/png"}`
	}
	p.entry("message", `"message":{"role":"user","content":[{"type":"text","text":`+q(text)+`}`+img+`],"timestamp":`+p.millis()+`}`)
}
func (p *pi) reply(block, stop string) {
	p.entry("message", `"message":{"role":"assistant","content":[`+block+`],"api":"anthropic-messages","provider":"anthropic","model":"claude-opus-4-5","usage":{"input":3,"output":210,"cacheRead":0,"cacheWrite":0,"totalTokens":213,"cost":{"total":0.01}},"stopReason":"`+stop+`","timestamp":`+p.millis()+`}`)
}
func (p *pi) assistant(text string) { p.reply(`{"type":"text","text":`+q(text)+`}`, "stop") }
func (p *pi) thought(text string) {
	p.reply(`{"type":"thinking","thinking":`+q(text)+`,"thinkingSignature":"`+blob(p.r, 400+p.r.IntN(500))+`"}`, "stop")
}
func (p *pi) call(name, args string) string {
	id := "toolu_01" + p.r.alnum(22)
	p.reply(`{"type":"toolCall","id":"`+id+`","name":"`+name+`","arguments":`+args+`}`, "toolUse")
	return id
}
func (p *pi) result(id, name, text, image string) {
	img := ""
	if image != "" {
		img = `,{"type":"image","data":"` + image + `","mimeType":"image/png"}`
	}
	p.entry("message", `"message":{"role":"toolResult","toolCallId":"`+id+`","toolName":"`+name+`","content":[{"type":"text","text":`+q(text)+`}`+img+`],"isError":false,"timestamp":`+p.millis()+`}`)
}
func (p *pi) noise() { p.entry("thinking_level_change", `"thinkingLevel":"high"`) }
func (p *pi) close() {}

// --- Kiro CLI: versioned events; an MCP result sits inside a json item.

type kiro struct{ *writer }

func (k *kiro) event(kind, data string) {
	k.line(`{"version":"v1","kind":"` + kind + `","data":{"message_id":"` + k.r.uuid() + `",` + data + `}}`)
}
func (k *kiro) open() {}
func (k *kiro) user(text, image string) {
	img := ""
	if image != "" {
		img = `,{"kind":"image","data":{"format":"png","source":{"bytes":"` + image + `"}}}`
	}
	k.event("Prompt", `"content":[{"kind":"text","data":`+q(text)+`}`+img+`],"meta":{"timestamp":`+strconv.FormatInt(k.now.Unix(), 10)+`}`)
	k.stamp()
}
func (k *kiro) assistant(text string) {
	k.event("AssistantMessage", `"content":[{"kind":"text","data":`+q(text)+`}]`)
}
func (k *kiro) thought(string) {}
func (k *kiro) call(name, args string) string {
	id := "tooluse_" + k.r.alnum(22)
	k.event("AssistantMessage", `"content":[{"kind":"toolUse","data":{"toolUseId":"`+id+`","name":"`+name+`","input":`+args+`}}]`)
	return id
}
func (k *kiro) result(id, name, text, image string) {
	item := `{"kind":"text","data":` + q(text) + `}`
	if name == "chat_checkpoint" || name == "bash" {
		item = `{"kind":"json","data":{"content":[{"type":"text","text":` + q(text) + `}],"isError":false}}`
	}
	k.event("ToolResults", `"content":[{"kind":"toolResult","data":{"toolUseId":"`+id+`","content":[`+item+`],"status":"success"}}]`)
}
func (k *kiro) noise() {}
func (k *kiro) close() {}
