package history

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"parlance/internal/chat"
	"parlance/internal/mapping"
)

// A whole is a conversation with everything in it.
type whole struct {
	c       *chat.Conversation
	f       *file
	at      time.Time // its place in the order
	current bool
}

// readAll reads a home without any thought for speed. Of copies those stay that count.
func readAll(t *testing.T, h *History) []whole {
	t.Helper()
	ctx := context.Background()
	r, err := h.discover(ctx, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]whole{}
	for _, f := range r.files {
		keys := func(ctx context.Context, id string) (map[string]bool, bool) {
			for _, o := range r.files {
				found := false
				_ = o.m.Read(ctx, o.File, mapping.ReadOptions{}, func(c *chat.Conversation) error {
					found = found || o.Provider == f.Provider && c.ID == id
					return nil
				})
				if keys, err := o.m.Keys(ctx, o.File, ""); found && err == nil {
					return keys, true
				}
			}
			return nil, false
		}
		_ = f.m.Read(ctx, f.File, mapping.ReadOptions{Keys: keys}, func(c *chat.Conversation) error {
			if len(c.Messages) > 0 {
				all[c.FullID()] = append(all[c.FullID()], whole{c, f, c.Updated, false})
			}
			return nil
		})
	}
	var kept []whole
	for _, list := range all {
		slices.SortFunc(list, func(a, b whole) int {
			return cmp.Or(len(b.c.Messages)-len(a.c.Messages), b.c.Updated.Compare(a.c.Updated), cmp.Compare(b.f.Size, a.f.Size),
				cmp.Compare(a.c.File, b.c.File))
		})
		if list[0].f.m.Unique == "first_source" {
			first := slices.MinFunc(list, func(a, b whole) int { return a.f.Sources[0] - b.f.Sources[0] }).f.Sources[0]
			list = slices.DeleteFunc(list, func(c whole) bool { return c.f.Sources[0] != first })
		}
		for i, c := range list {
			if !slices.ContainsFunc(list[:i], func(o whole) bool { return o.c.Messages[0].Body() == c.c.Messages[0].Body() }) {
				kept = append(kept, c)
			}
		}
	}
	for i := range kept {
		k := &kept[i]
		touched := k.f.ModTime
		if k.f.sqlite {
			for _, list := range all { // only the newest row of a database may be newer than it says
				for _, o := range list {
					if o.f == k.f && (o.c.Updated.After(k.c.Updated) || o.c.Updated.Equal(k.c.Updated) && o.c.ID < k.c.ID) {
						touched = time.Time{}
					}
				}
			}
		}
		k.current = chat.Current(k.c, touched, r.now)
		if r.stores[k.c.Provider] != nil { // no row says less than what is in it
			continue
		}
		latest := slices.MaxFunc(r.byHint[key{k.c.Provider, k.f.hint}], func(a, b *file) int { return a.bound.Compare(b.bound) })
		k.at = capped(k.at, latest.bound)
	}
	return kept
}

// reference is Search on what readAll gives: it compares texts. It gives each row in short.
func reference(t *testing.T, h *History, kept []whole, q Query) (rows []string, current string, more bool) {
	t.Helper()
	b, err := h.bounds(q.Filter)
	if err != nil {
		t.Fatal(err)
	}
	type answer struct {
		whole
		rank                 int
		text                 string
		byID, byUUID, byCopy bool // named whole
		id, slug, uuid       bool
	}
	needle := strings.TrimSpace(chat.Fold(q.Text))
	words := strings.FieldsFunc(needle, unicode.IsSpace)
	slices.Sort(words)
	words = slices.Compact(words)
	var answers []answer
	for _, k := range kept {
		a := answer{whole: k}
		c := k.c
		a.id = strings.Contains(chat.Fold(c.FullID()), needle)
		a.byID = needle == chat.Fold(c.ID) || needle == chat.Fold(c.FullID())
		for _, m := range chat.FindCheckpoints(c) {
			whole := len(needle) == 36 && chat.Fold(m.UUID) == needle
			if c.Messages[m.Message].Inherited {
				a.byCopy = a.byCopy || whole
				continue
			}
			a.byUUID = a.byUUID || whole
			a.slug = a.slug || strings.Contains(chat.Fold(m.Slug), needle)
			a.uuid = a.uuid || strings.Contains(chat.Fold(m.UUID), needle)
		}
		hits, first, last := 0, "", ""
		have := map[string]bool{}
		together := false
		for i := range c.Messages {
			m := &c.Messages[i]
			talk := m.Role == chat.User || m.Role == chat.Assistant
			tools := m.Role == chat.ToolCall || m.Role == chat.ToolResult
			if m.Abandoned || m.Inherited && slices.ContainsFunc(kept, func(k whole) bool { return k.c.Provider == c.Provider && k.c.ID == c.Parent }) || !(q.In == InAll || q.In == InTools && tools || q.In != InTools && talk) {
				continue
			}
			folded := chat.Fold(m.Body())
			n := 0
			for _, w := range words {
				if strings.Contains(folded, w) {
					have[w] = true
					n++
				}
			}
			together = together || n == len(words)
			n, from, to := chat.Matches(m.Body(), needle)
			if n == 0 {
				continue
			}
			if hits == 0 {
				first = chat.Context(m.Body(), from)
			}
			hits += n
			last = chat.Context(m.Body(), to)
		}
		var why []string
		why = add(why, a.id, "conversation id")
		why = add(why, a.slug, "checkpoint slug")
		why = add(why, a.uuid || a.byCopy, "checkpoint uuid")
		why = add(why, hits > 0, "transcript")
		all := len(words) > 1 && len(have) == len(words)
		why = add(why, hits == 0 && all, "words")
		if hits < 2 {
			last = ""
		}
		a.text = fmt.Sprintf("%s %s %q %d %q %q", c.FullID(), c.File, why, hits, first, last)
		switch {
		case needle == "" || a.id || a.slug || a.uuid || hits > 0:
		case all && together:
			a.rank = 1
		case all:
			a.rank = 2
		default:
			a.rank = 3
		}
		row := chat.NewRow(c)
		if needle == "" {
			a.text = fmt.Sprintf("%s %s %q %d %q %q", c.FullID(), c.File, []string(nil), 0, "", "")
		}
		a.text += facts(&row)
		if !b.holds(c.Cwd, k.at) {
			a.rank, a.byID, a.byUUID, a.byCopy = 4, false, false, false
		}
		if c.Subagent && !q.Subagents && !a.byID && !a.byUUID && !a.byCopy {
			a.rank = 4
		}
		if needle != "" && a.current && !a.id && !a.slug && !a.uuid {
			a.rank, a.byCopy = 4, false
		}
		answers = append(answers, a)
	}
	slices.SortFunc(answers, func(a, b answer) int {
		return cmp.Or(a.rank-b.rank, b.at.Compare(a.at), cmp.Compare(a.c.FullID(), b.c.FullID()), cmp.Compare(a.c.File, b.c.File))
	})
	var now []string
	for _, a := range answers {
		if a.current {
			now = append(now, a.text)
		}
	}
	if len(now) == 1 {
		current = now[0]
	}
	shown := func(holds func(answer) bool) (out []string) {
		for _, a := range answers {
			if holds(a) {
				out = append(out, a.text)
			}
		}
		return out
	}
	for _, holds := range []func(answer) bool{
		func(a answer) bool { return needle != "" && a.byID && a.rank < 4 },
		func(a answer) bool { return needle != "" && a.byUUID && a.rank < 4 },
		func(a answer) bool { return needle != "" && a.byCopy && a.rank < 4 },
		func(a answer) bool { return a.rank < 3 },
	} {
		if rows = shown(holds); rows != nil {
			break
		}
	}
	rows = slices.DeleteFunc(rows, func(s string) bool { return s == current })
	if b.limit > 0 && len(rows) > b.limit {
		return rows[:b.limit], current, true
	}
	return rows, current, false
}

func add(list []string, holds bool, s string) []string {
	if holds {
		return append(list, s)
	}
	return list
}

func inShort(r *chat.Row) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("%s %s %q %d %q %q", r.FullID(), r.File, r.Matched, r.Hits, r.First, r.Last) + facts(r)
}

// facts are what a row tells whatever was searched.
func facts(r *chat.Row) string {
	return fmt.Sprintf(" %q %q %q %q %v %s %s %d %q", r.Title, r.Prompt, r.Cwd, r.Parent, r.Subagent, r.Started.Format(time.RFC3339Nano),
		r.Updated.Format(time.RFC3339Nano), r.Messages, r.Checkpoints)
}

// homes is how many random homes are tried; more is for whoever changes the search.
var homes = flag.Int("homes", 8, "random homes to search")

// A maker writes random homes and asks random questions about them.
type maker struct {
	*rand.Rand
	w     *world
	texts []string
	names []string // ids, UUIDs, slugs
}

func (k *maker) text() string {
	s := randomText(k.Rand, 6)
	k.texts = append(k.texts, s)
	return s
}

func (k *maker) name(s string) string {
	k.names = append(k.names, s)
	return s
}

func (k *maker) when() time.Time {
	if k.IntN(12) == 0 {
		return k.w.ago(time.Duration(k.IntN(50)) * time.Second)
	}
	return k.w.ago(time.Duration(1+k.IntN(200)) * hour)
}

// acmeLines are a conversation's records, in random spellings.
func (k *maker) acmeLines(at time.Time) (lines []string) {
	add := func(who, text string, more ...string) {
		line := said(at, who, "@", more...)
		lines = append(lines, strings.Replace(line, `"@"`, spell(k.Rand, text), 1))
	}
	var more []string
	if k.IntN(8) == 0 {
		more = []string{"sub", fmt.Sprintf("k%d", k.IntN(3))}
	}
	add([]string{"me", "bot", "think"}[k.IntN(3)], k.text())
	for i := range 1 + k.IntN(4) {
		switch k.IntN(9) {
		case 0:
			add("me", k.text(), "gone", "1")
		case 1:
			add("bot", k.text(), "copyOf", "elsewhere", "copied", fmt.Sprint(i))
		case 2:
			call := fmt.Sprintf("c%d", i)
			add("call", k.text(), "tool", "shell", "call", call)
			add("result", k.text(), "call", call)
		case 3:
			id := fmt.Sprintf("%08x-0000-4000-8000-%012x", k.IntN(4), k.IntN(4))
			slug := strings.TrimSpace(strings.Map(func(r rune) rune {
				if r < ' ' || r == '\u2028' {
					return ' '
				}
				return r
			}, k.text()))
			call := fmt.Sprintf("c%d", i)
			var from []string
			if k.IntN(4) == 0 {
				from = []string{"copyOf", "elsewhere", "copied", fmt.Sprint(i)}
			}
			add("call", `{"slug":"x"}`, append([]string{"tool", "chat_checkpoint", "call", call}, from...)...)
			add("result", "CHAT CHECKPOINT UUID="+k.name(id)+" SLUG="+k.name(slug), append([]string{"call", call}, from...)...)
		case 4:
			add("me", k.text(), more...)
		default:
			add([]string{"me", "bot"}[k.IntN(2)], k.text())
		}
	}
	if k.IntN(3) == 0 {
		add("call", `{"search":"x"}`, "tool", "mcp_x_chat_search", "call", "own")
	}
	return lines
}

func (k *maker) home() {
	w := k.w
	for range 5 {
		at := k.when()
		id := k.name([]string{"c77", "heron-1", "0a0a0a0a-0000-4000-8000-00000000000" + fmt.Sprint(k.IntN(6)), "the"}[k.IntN(4)] + []string{"", "x"}[k.IntN(2)])
		name := id
		if k.IntN(6) == 0 {
			name = "agent-" + id
		}
		lines := k.acmeLines(at)
		touched := at
		if !at.After(w.ago(hour)) {
			switch k.IntN(8) {
			case 0, 1:
				touched = at.Add(30 * time.Minute)
			case 2: // the file is older than what is in it
				touched = at.Add(-time.Duration(1+k.IntN(100)) * hour)
			}
		}
		w.write(".acme/p/"+k.name(name)+".jsonl", touched, lines...)
		switch k.IntN(5) {
		case 0: // the same, older and shorter, in a second place
			w.write(".acme-backup/p/"+name+".jsonl", touched, lines[:1+k.IntN(len(lines))]...)
		case 1: // something else of the same name
			at := k.when()
			w.write(".acme-backup/p/"+name+".jsonl", at, k.acmeLines(at)...)
		}
	}
	for i := range 2 {
		at := k.when().UTC()
		w.write(fmt.Sprintf(".bolt/b%d.jsonl", i), at,
			rec("kind", "meta", "session", k.name(fmt.Sprintf("bolt-s%d", i)), "parent", "bolt-s0", "dir", "/srv/heron"),
			`{"kind":"user","turn":"t0","at":"`+at.Format(time.RFC3339Nano)+`","text":`+spell(k.Rand, k.text())+`}`,
			`{"kind":"answer","turn":"t`+fmt.Sprint(i)+`","text":`+spell(k.Rand, k.text())+`}`)
	}
	var rows []string
	newest := k.when()
	for i := range 3 {
		at := k.when()
		if at.After(newest) {
			newest = at
		}
		rows = append(rows, chatRow(k.name(fmt.Sprintf("ses_%d", i)), at, k.text(), k.text(), k.text())...)
	}
	w.database(".crate/a.db", newest, rows...)
	for i := range 4 { // two of them are in the database as well
		at := k.when().UTC()
		w.write(fmt.Sprintf(".crate/old/ses_%d.json", i+1), at, `{"id":"ses_`+fmt.Sprint(i+1)+`","updated":"`+at.Format(time.RFC3339Nano)+
			`","messages":[{"role":"user","text":`+spell(k.Rand, k.text())+`}]}`)
	}
	w.write(".dusk/d.jsonl", k.when(), rec("who", "me", "code", "a"), rec("who", "me", "code", "b"))
	w.write(".ember/e.jsonl", k.when(), rec("who", "me", "a", "he", "b", "ron"), rec("who", "me", "a", "plo", "b", "ver"))
	k.texts = append(k.texts, "alpha heron", "beta tern", "[image]", "plover")
	k.names = append(k.names, "d", "e.e", "acme:", "crate", "bolt:bolt-s1")
}

func (k *maker) query() Query {
	q := Query{Filter: Filter{Limit: []int{0, 0, 1, 2, 3, -1}[k.IntN(6)]}}
	part := func(s string) string {
		r := []rune(s)
		from := k.IntN(len(r) + 1)
		return string(r[from : from+k.IntN(len(r)-from+1)])
	}
	switch k.IntN(8) {
	case 0:
		q.Text = k.names[k.IntN(len(k.names))]
	case 1:
		q.Text = part(k.names[k.IntN(len(k.names))])
	case 2:
		q.Text = []string{"acme:", "bolt:", "crate:"}[k.IntN(3)] + k.names[k.IntN(len(k.names))]
	case 3:
		q.Text = part(k.texts[k.IntN(len(k.texts))]) + " " + part(k.texts[k.IntN(len(k.texts))])
	case 4:
		q.Text = ""
	default:
		q.Text = part(k.texts[k.IntN(len(k.texts))])
	}
	if k.IntN(3) == 0 {
		q.Text = strings.ToUpper(q.Text)
	}
	q.Subagents = k.IntN(4) == 0
	q.In = []In{"", "", InTalk, InTools, InAll}[k.IntN(5)]
	if k.IntN(8) == 0 {
		q.Project = "heron"
	}
	if k.IntN(8) == 0 {
		q.Since = "100h"
	}
	return q
}

// misgiven says what is wrong with the rows that were handed over before the search ended.
func misgiven(given, rows []chat.Row) string {
	var got, want []string
	for i := range given {
		got = append(got, inShort(&given[i]))
	}
	for i := range rows {
		want = append(want, inShort(&rows[i]))
	}
	if slices.Equal(got, want) {
		return ""
	}
	return fmt.Sprintf("given %q", got)
}

// Whatever stands on disk and whatever is asked, the quick search finds what the plain one
// does, with one worker and with many, and hands over the same rows on its way.
func TestSearchFindsWhatReadingEverythingFinds(t *testing.T) {
	for seed := range *homes {
		k := &maker{Rand: rand.New(rand.NewPCG(uint64(seed), 7)), w: newWorld(t)}
		k.home()
		kept := readAll(t, k.w.open())
		for i := range 40 {
			q := k.query()
			want, current, more := reference(t, k.w.open(), kept, q)
			for _, workers := range []int{1, 3, 16} {
				k.w.cfg.Workers = workers
				h := k.w.open()
				if i%2 == 0 {
					h.siftFrom = 0
				}
				var given []chat.Row
				q.Row = func(r *chat.Row) error {
					given = append(given, *r)
					return nil
				}
				l, err := h.Search(context.Background(), q)
				if err != nil {
					t.Fatal(err)
				}
				if why := misgiven(given, l.Rows); why != "" {
					t.Errorf("home %d, query %d, %d workers: %q %+v: %s\ngiven %s\nrows  %s", seed, i, workers, q.Text, q.Filter, why, ids(Listing{Rows: given}), ids(l))
				}
				var got []string
				for _, r := range l.Rows {
					got = append(got, inShort(&r))
				}
				if !slices.Equal(got, want) || l.More != more || inShort(l.Current) != current {
					t.Fatalf("home %d, query %d, %d workers: %q %+v\ngot  %s\nwant %s\nmore %v %v\ncurrent %s\nwant    %s", seed, i, workers, q.Text, q.Filter,
						strings.Join(got, "\n     "), strings.Join(want, "\n     "), l.More, more, inShort(l.Current), current)
				}
			}
		}
	}
}
