package main

import (
	"fmt"
	"math"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

const (
	// checkpointLine is the text that a checkpoint call returns.
	checkpointLine = "CHAT CHECKPOINT UUID=%s SLUG=%s"
	commonWord     = "pipeline"
	onePctNeedle   = "mossgate-lantern-0417"
	missNeedle     = "vexillum-absent-9a7d3e"
)

// Where in a session a needle is planted.
const (
	inUser      = "user"
	inAssistant = "assistant"
	inResult    = "tool_result"
	inMark      = "checkpoint"
	afterLong   = "after_long_line" // in a short answer behind a longLine
	longLine    = "long_line"       // no needle, a tool result of many bytes
	deepInUser  = "deep_user"       // behind many bytes of one message
	deepInTool  = "deep_tool"       // the same in a tool result, and as many after it
	inWords     = "words"           // nowhere as it stands: words of several messages
)

// A plant is one needle put into one session.
type plant struct {
	where string
	text  string
	size  int // longLine: bytes of it; deepInUser, deepInTool: bytes before the needle
}

type session struct {
	index  int
	tool   string
	target int64 // bytes
	end    time.Time
	id     string
	path   string // relative to the home
	plants []plant
	// Set while it is written.
	bytes, toolBytes, proseBytes int64
	messages                     int
	copies                       []string // their ids
}

// fullID is what the conversation is called by whoever reads it.
func (s *session) fullID() string { return providers[s.tool] + ":" + s.id }

// planted is the first needle of that kind.
func (s *session) planted(where string) string {
	for _, p := range s.plants {
		if p.where == where {
			return p.text
		}
	}
	return ""
}

type needle struct {
	Name     string   `json:"name"`
	Text     string   `json:"text"`
	Where    string   `json:"where"`
	Sessions []string `json:"sessions"` // provider:id
}

// A manifest says what is in a home.
type manifest struct {
	Seed         uint64            `json:"seed"`
	Sessions     int               `json:"sessions"`
	Bytes        int64             `json:"bytes"`
	ToolBytes    int64             `json:"tool_result_bytes"`
	ProseBytes   int64             `json:"user_and_assistant_text_bytes"`
	Messages     int               `json:"messages"`
	PerTool      map[string]int    `json:"sessions_per_tool"`
	BytesPerTool map[string]int64  `json:"bytes_per_tool"`
	Needles      []needle          `json:"needles"`
	Special      map[string]string `json:"special"`  // conversations of a certain kind and size: name to provider:id
	Paths        map[string]string `json:"paths"`    // of those: provider:id to file, relative to the home
	AgeRank      map[string]int    `json:"age_rank"` // provider:id to its place, newest first
	Copies       map[string]string `json:"copies"`   // provider:id by its file's name to that whose file it is a link to
}

// shares of the sessions, by tool.
var shares = map[string]float64{"claude": 0.46, "codex": 0.24, "gemini": 0.10, "pi": 0.08, "kiro": 0.12}

// providers are the names by which conversations of the tools are known.
var providers = map[string]string{"claude": "claude_code", "codex": "codex", "gemini": "gemini_cli", "pi": "pi", "kiro": "kiro_cli"}

// plan decides every session's tool, size, age and needles before any is written.
func plan(o options) ([]*session, *manifest) {
	seed, total, count, tools, end, long := o.seed, o.bytes, o.count, o.tools, o.end, o.long
	r := newRNG(seed, 2)
	man := &manifest{Seed: seed, PerTool: map[string]int{}, BytesPerTool: map[string]int64{}, Copies: map[string]string{},
		Special: map[string]string{}, Paths: map[string]string{}, AgeRank: map[string]int{}}

	// Giants first: they hold up to two fifths of the bytes.
	var giants []int64
	budget := total * 2 / 5
	for _, g := range []int64{100 * mib, 20 * mib, 40 * mib, 200 * mib, 60 * mib, 25 * mib, 150 * mib, 30 * mib, 80 * mib, 20 * mib, 35 * mib, 120 * mib} {
		if g <= budget {
			giants = append(giants, g)
			budget -= g
		}
	}
	rest := total
	for _, g := range giants {
		rest -= g
	}
	// The planted long lines are part of the total too.
	if long {
		rest -= int64(len(tools)) * 5 * mib
	}
	if long && total >= 500*mib {
		rest -= int64(len(tools)) * 16 * mib
	}
	rest = max(rest, total/4)
	if count == 0 {
		count = max(len(tools)*4, int(rest/(170*kib)))
	}
	count = max(count, len(tools)*4+len(giants))
	small := count - len(giants)
	sizes := make([]float64, small)
	sum := 0.0
	for i := range sizes {
		sizes[i] = r.logNormal(60*kib, 1.25, 3*kib, 12*mib)
		sum += sizes[i]
	}
	var all []*session
	weights := 0.0
	for _, t := range tools {
		weights += shares[t]
	}
	pick := func() string {
		x := r.Float64() * weights
		for _, t := range tools {
			if x -= shares[t]; x <= 0 {
				return t
			}
		}
		return tools[len(tools)-1]
	}
	for i := range sizes {
		s := &session{index: i, target: int64(math.Max(2*kib, sizes[i]*float64(rest)/sum))}
		// The first four of every tool are guaranteed; the rest by share.
		if i < len(tools)*4 {
			s.tool = tools[i%len(tools)]
		} else {
			s.tool = pick()
		}
		if i < len(tools) {
			s.target = 200 * kib // the fixed-size render target of each tool
		}
		all = append(all, s)
	}
	for i, g := range giants {
		s := &session{index: small + i, target: g, tool: tools[i%min(2, len(tools))]}
		if g == 100*mib {
			s.tool = tools[0]
		}
		all = append(all, s)
	}
	// Ages: 18 months, denser near the end, whole seconds, all distinct enough.
	const span = 548 * 24 * time.Hour
	for _, s := range all {
		u := math.Pow(r.Float64(), 1.6)
		s.end = end.Add(-time.Duration(u * float64(span))).Truncate(time.Second)
	}
	for i, s := range all {
		if i < len(tools) || s.target >= 20*mib {
			continue
		}
		if i < len(tools)*2 { // second of each tool: very old, the unique needle's home
			s.end = end.Add(-time.Duration(r.between(500, 545)) * 24 * time.Hour)
		}
	}
	for _, s := range all {
		rr := newRNG(seed, uint64(s.index)+1000)
		s.id = rr.uuid()
		s.path = pathOf(s, rr)
	}

	// Needles.
	add := func(name, text, where string, ss ...*session) {
		n := needle{Name: name, Text: text, Where: where}
		for _, s := range ss {
			s.plants = append(s.plants, plant{where: where, text: text})
			n.Sessions = append(n.Sessions, s.fullID())
		}
		man.Needles = append(man.Needles, n)
	}
	special := func(name string, s *session) {
		man.Special[name], man.Paths[s.fullID()] = s.fullID(), filepath.ToSlash(s.path)
	}
	for k, tool := range tools {
		render, old, mid, late := all[k], all[len(tools)+k], all[2*len(tools)+k], all[3*len(tools)+k]
		special("render_200k_"+tool, render)
		special("append_"+tool, late)
		add("unique_old_user_"+tool, "quillwharf-"+tool+"-"+r.hex(6), inUser, old)
		add("unique_old_assistant_"+tool, "tarnbridge-"+tool+"-"+r.hex(6), inAssistant, old)
		add("tool_only_"+tool, "gritstone-"+tool+"-"+r.hex(6), inResult, mid)
		add("quoted_"+tool, `say "brindle `+tool+` fern" twice`, inAssistant, late)
		add("unicode_"+tool, "grünspecht-éclair-"+tool, inUser, mid)
		if long {
			add("after_5mb_line_"+tool, "alderfen-"+tool+"-"+r.hex(6), afterLong, mid)
			mid.plants = append(mid.plants, plant{where: longLine, size: 5 * mib})
		}
		if long && total >= 500*mib && tool != "gemini" {
			add("after_16mb_line_"+tool, "hollowmere-"+tool+"-"+r.hex(6), afterLong, late)
			late.plants = append(late.plants, plant{where: longLine, size: 16 * mib})
		}
		for n, s := range []*session{old, late} {
			line := fmt.Sprintf(checkpointLine, r.uuid(), fmt.Sprintf("ckpt-%s-%s-%d", tool, r.hex(4), n))
			add(fmt.Sprintf("checkpoint_%s_%d", tool, n), line, inMark, s)
		}
	}
	for _, s := range all {
		if s.target == 100*mib {
			special("render_100m", s)
		}
		if s.target == 20*mib {
			special("render_20m", s)
		}
	}
	n := max(3, len(all)/100)
	perm := r.Perm(len(all))
	var onePct []*session
	for _, i := range perm {
		if len(onePct) < n && all[i].target < 20*mib {
			onePct = append(onePct, all[i])
		}
	}
	add("one_percent", onePctNeedle, inAssistant, onePct...)
	for k, tool := range tools {
		old, mid := all[len(tools)+k], all[2*len(tools)+k]
		deep := func(name, where string, size int) {
			n := needle{Name: name + "_" + tool, Text: "fathomreed-" + tool + "-" + r.hex(6), Where: where, Sessions: []string{mid.fullID()}}
			mid.plants = append(mid.plants, plant{where, n.Text, size})
			man.Needles = append(man.Needles, n)
		}
		deep("past_64_kb", deepInUser, 66*kib)
		if long {
			deep("past_1_mb", deepInUser, mib+mib/10)
		}
		deep("middle_of_60_kb", deepInTool, 30*kib)
		// What the person said and what was answered, the other way round.
		man.Needles = append(man.Needles, needle{Name: "words_" + tool, Where: inWords, Sessions: []string{old.fullID()},
			Text: old.planted(inAssistant) + " " + old.planted(inUser)})
	}
	man.Needles = append(man.Needles, needle{Name: "common_word", Text: commonWord, Where: "vocabulary (nearly every session)"},
		needle{Name: "miss", Text: missNeedle, Where: "nowhere"})

	byAge := append([]*session{}, all...)
	sort.SliceStable(byAge, func(i, j int) bool { return byAge[i].end.After(byAge[j].end) })
	for i, s := range byAge {
		man.AgeRank[s.fullID()] = i
	}
	return all, man
}

var projects = strings.Fields("harbor-api ledger-web tidepool kestrel-cli orchard-infra lumen-notes copperline mapleforge quarry-etl saltmarsh")

func projectOf(s *session) string {
	return "/home/dev/work/" + projects[(s.index*7+len(s.tool))%len(projects)]
}

func pathOf(s *session, r *rng) string {
	dir := strings.ReplaceAll(projectOf(s), "/", "-")
	start := s.end.Add(-time.Hour)
	switch s.tool {
	case "claude":
		return filepath.Join(".claude/projects", dir, s.id+".jsonl")
	case "codex":
		return filepath.Join(".codex/sessions", start.Format("2006/01/02"), "rollout-"+start.Format("2006-01-02T15-04-05")+"-"+s.id+".jsonl")
	case "gemini":
		ext := ".json"
		if s.index%2 == 1 {
			ext = ".jsonl"
		}
		h := newRNG(99, uint64(len(projectOf(s)))+uint64(projectOf(s)[15])<<8)
		return filepath.Join(".gemini/tmp", h.hex(64), "chats", "session-"+start.Format("2006-01-02T15-04")+"-"+s.id[:8]+ext)
	case "pi":
		return filepath.Join(".pi/agent/sessions", "-"+dir+"--", start.Format("2006-01-02T15-04-05-000Z")+"_"+s.id+".jsonl")
	default:
		return filepath.Join(".kiro/sessions/cli", s.id+".jsonl")
	}
}
