package mapping

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"parlance/internal/chat"
	"parlance/mappings"
)

// said is one message as the measure sees it: neighbours of one role are one, and white space
// does not count, because no sample tells how a tool joins its pieces.
type said struct {
	Role chat.Role `json:"role"`
	Text string    `json:"text"`
}

// saidIn gives what a person sees of conversations: prompts, answers, thoughts, calls and
// results that are not abandoned.
func saidIn(convs []*chat.Conversation) []said {
	var out []said
	for _, c := range convs {
		var last chat.Role
		for i := range c.Messages {
			m := &c.Messages[i]
			if m.Abandoned || m.Inherited || m.Role == chat.System || m.Role == chat.Compaction {
				continue
			}
			text := m.Text
			if m.Role == chat.ToolCall {
				text = m.Tool + " " + m.Input
			}
			text = strings.Join(strings.Fields(text), " ")
			if n := len(out); n > 0 && last == m.Role && (m.Role == chat.User || m.Role == chat.Assistant || m.Role == chat.Reasoning) {
				out[n-1].Text += " " + text
				continue
			}
			last = m.Role
			out = append(out, said{m.Role, text})
		}
	}
	return out
}

// talkOf is what the person and the model said.
func talkOf(list []said) []said {
	var out []said
	for _, s := range list {
		if s.Role == chat.User || s.Role == chat.Assistant {
			out = append(out, s)
		}
	}
	return out
}

// likeness is how much of two lists agrees in order: 1 = all of it.
func likeness(a, b []said) float64 {
	if len(a)+len(b) == 0 {
		return 1
	}
	row := make([]int, len(b)+1)
	for i := range a {
		diag := 0
		for j := range b {
			up := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diag + 1
			} else {
				row[j+1] = max(row[j], row[j+1])
			}
			diag = up
		}
	}
	return 2 * float64(row[len(b)]) / float64(len(a)+len(b))
}

// readConvs reads a file with one source of a mapping.
func readConvs(t *testing.T, m *Mapping, f File, source int) []*chat.Conversation {
	t.Helper()
	f.Sources = []int{source}
	var out []*chat.Conversation
	_ = m.Read(context.Background(), f, ReadOptions{}, func(c *chat.Conversation) error {
		if len(c.Messages) > 0 && !c.Subagent {
			own := *c
			out = append(out, &own)
		}
		return nil
	})
	slices.SortFunc(out, func(a, b *chat.Conversation) int { return strings.Compare(a.Row, b.Row) })
	return out
}

// drafted infers a mapping of a file, without those that there are, and reads it with that.
func drafted(t *testing.T, path, home string) ([]*chat.Conversation, Draft, error) {
	t.Helper()
	d, err := Infer(context.Background(), path, InferOptions{Env: Env{Home: home}})
	if err != nil {
		return nil, d, err
	}
	m, problems := Load(d.Name+".yaml", []byte(d.YAML), nil)
	if m == nil {
		t.Fatalf("%s: the draft does not load: %v\n%s", path, problems, d.YAML)
	}
	env := Env{Home: home, Getenv: func(string) string { return "" }}
	f, err := m.FileAt(env, path)
	if err != nil {
		t.Fatal(err)
	}
	if files, _ := m.Find(context.Background(), env); !slices.ContainsFunc(files, func(f File) bool { return f.Path == path }) {
		t.Errorf("%s: the pattern of the draft does not find the file: %v", path, m.Sources[0].Paths)
	}
	return readConvs(t, m, f, 0), d, nil
}

// inferDir holds samples of formats, each with what is said in it: want.json names the file
// below its home, and the messages that a person sees.
const inferDir = "../../testdata/infer"

type inferSample struct {
	About string `json:"about"`
	Held  bool   `json:"held"` // the guesses were made without a look at what comes of it
	File  string `json:"file"`
	Want  []said `json:"want"`
}

// A measured format is right if what the person and the model said is there, in order and
// under the right role, and most of all else.
type measured struct {
	name, container string
	group           string // samples, held or homes
	talk, all       float64
	err             error
}

func (m measured) right() bool { return m.talk >= talkRight && m.all >= allRight }

const (
	talkRight = 0.9
	allRight  = 0.75
)

// measure compares what a draft reads with what is wanted.
func measure(t *testing.T, name, container, path, home string, want []said) measured {
	got, d, err := drafted(t, path, home)
	have := saidIn(got)
	m := measured{name: name, container: container, talk: likeness(talkOf(want), talkOf(have)), all: likeness(want, have), err: err}
	if os.Getenv("SHOW") == name { // for whoever works on the guesses
		fmt.Printf("%s %v\n%s\n", path, err, d.YAML)
		for k := range max(len(want), len(have)) {
			x, y := "", ""
			if k < len(want) {
				x = fmt.Sprint(want[k])
			}
			if k < len(have) {
				y = fmt.Sprint(have[k])
			}
			mark := " "
			if x != y {
				mark = "!"
			}
			fmt.Printf("   %s %-80.80s | %-80.80s\n", mark, x, y)
		}
	}
	return m
}

// TestInferMeasured hides the mappings and infers one for each format there is a sample of:
// those in testdata/infer, and the largest file of each JSONL or JSON store of the fixture
// homes, which were made to hold every oddity of their tools. It prints the table.
func TestInferMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine for each of many formats: the race detector has little to find here")
	}
	var table []measured
	dirs, err := os.ReadDir(inferDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if !dir.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(inferDir, dir.Name(), "want.json"))
		if err != nil {
			t.Fatal(err)
		}
		var s inferSample
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatalf("%s: %v", dir.Name(), err)
		}
		home, err := filepath.Abs(filepath.Join(inferDir, dir.Name(), "home"))
		if err != nil {
			t.Fatal(err)
		}
		container := strings.TrimPrefix(filepath.Ext(s.File), ".")
		m := measure(t, dir.Name(), container, filepath.Join(home, filepath.FromSlash(s.File)), home, s.Want)
		m.group = "samples"
		if s.Held {
			m.group = "held"
		}
		table = append(table, m)
	}
	table = append(table, measureHomes(t)...)
	right, of := map[string]int{}, map[string]int{}
	for _, m := range table {
		word := "-"
		of[m.group]++
		if m.right() {
			word = "right"
			right[m.group]++
		}
		t.Logf("%-7s %-30s %-7s talk %3.0f %%  all %3.0f %%  %s", m.group, m.name, m.container, 100*m.talk, 100*m.all, word)
	}
	all := right["samples"] + right["held"] + right["homes"]
	share := float64(all) / float64(len(table))
	t.Logf("%d of %d formats right: %.0f %%", all, len(table), 100*share)
	for _, g := range []string{"samples", "held", "homes"} {
		t.Logf("%-7s %d of %d", g, right[g], of[g])
		if right[g] < rightFloor[g] {
			t.Errorf("%d of the %s are right, less than the %d that were reached before", right[g], g, rightFloor[g])
		}
	}
	if len(table) < 30 {
		t.Errorf("%d formats: at least 30 are to be measured", len(table))
	}
	if share < inferFloor {
		t.Errorf("%.0f %% right, at least %.0f %% are promised", 100*share, 100*inferFloor)
	}
}

// inferFloor is what is promised over all formats, however odd the homes are that are added:
// each holds what went wrong with its tool in years, and its middle file counts.
const inferFloor = 0.7

// rightFloor is what was reached: on the samples with which the guesses were made, on those
// that were held back from that, and on the fixture homes. It only goes up.
var rightFloor = map[string]int{"samples": 68, "held": 10, "homes": 21}

// measureHomes measures the main store of each fixture home: the first whose files are JSONL
// or JSON. Its files hold every oddity of the tool, so the one in the middle counts.
func measureHomes(t *testing.T) []measured {
	set, err := NewSet(mappings.FS, nil)
	if err != nil {
		t.Fatal(err)
	}
	var table []measured
	for _, name := range set.Names() {
		env := homeEnv(t, filepath.Join(providersDir, name, "home"))
		m := builtin(t, name)
		files, _ := m.Find(context.Background(), env)
		slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
		for i, src := range m.Sources {
			if src.Subagent || src.Unsupported != "" || src.Decoder != "" || len(src.join) > 0 || src.Container != "jsonl" && src.Container != "json" {
				continue
			}
			var of []measured
			for _, f := range files {
				if slices.Index(f.Sources, i) < 0 {
					continue
				}
				want := saidIn(readConvs(t, m, f, i))
				if len(talkOf(want)) >= 2 {
					m := measure(t, name+"/"+src.ID, src.Container, f.Path, env.Home, want)
					m.group = "homes"
					of = append(of, m)
				}
			}
			if len(of) == 0 {
				continue
			}
			slices.SortFunc(of, func(a, b measured) int { return cmp.Or(cmp.Compare(b.talk, a.talk), cmp.Compare(b.all, a.all)) })
			table = append(table, of[len(of)/2])
			break
		}
	}
	return table
}

// inferSamples are the samples' names and files.
func inferSamples(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	dirs, err := os.ReadDir(inferDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if !dir.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(inferDir, dir.Name(), "want.json"))
		if err != nil {
			t.Fatal(err)
		}
		var s inferSample
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		path, err := filepath.Abs(filepath.Join(inferDir, dir.Name(), "home", filepath.FromSlash(s.File)))
		if err != nil {
			t.Fatal(err)
		}
		out[dir.Name()] = path
	}
	return out
}

// sampleText takes the samples out of a draft.
func sampleTexts(t *testing.T, yaml string) *test {
	t.Helper()
	name := ""
	for _, line := range strings.Split(yaml, "\n") {
		if n, ok := strings.CutPrefix(line, "name: "); ok {
			name = n
		}
	}
	m, _ := Load(name+".yaml", []byte(yaml), nil)
	if m == nil {
		t.Fatal("the draft does not load")
	}
	if len(m.tests) == 0 {
		return nil
	}
	return m.tests[0]
}

// TestInferDraftsAreGood: a draft is the same each time, passes check without a problem, has
// a test, and that test gives away no more than 120 characters of a value.
func TestInferDraftsAreGood(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine for each of many formats: the race detector has little to find here")
	}
	long := regexp.MustCompile(`"(?:[^"\\]|\\.){121,}"`)
	for name, path := range inferSamples(t) {
		t.Run(name, func(t *testing.T) {
			home := filepath.Join(inferDir, name, "home")
			home, err := filepath.Abs(home)
			if err != nil {
				t.Fatal(err)
			}
			opts := InferOptions{Env: Env{Home: home}}
			d, err := Infer(context.Background(), path, opts)
			if errors.Is(err, ErrNoConversation) {
				t.Skip(err) // which the measure counts
			}
			if err != nil {
				t.Fatal(err)
			}
			again, err := Infer(context.Background(), path, opts)
			if err != nil || again.YAML != d.YAML {
				t.Errorf("a second draft differs: %v\n%s", err, firstDifference([]byte(again.YAML), []byte(d.YAML)))
			}
			m, problems := Load(d.Name+".yaml", []byte(d.YAML), nil)
			if m == nil {
				t.Fatalf("does not load: %v", problems)
			}
			for _, p := range append(problems, m.RunTests(context.Background())...) {
				if !p.Warning {
					t.Errorf("%s", p)
				}
			}
			sample := sampleTexts(t, d.YAML)
			if sample == nil {
				t.Fatalf("no test in\n%s", d.YAML)
			}
			for _, content := range []*string{sample.records, sample.document} {
				if content != nil {
					if hit := long.FindString(*content); hit != "" {
						t.Errorf("a value is longer than 120 characters: %s", hit)
					}
				}
			}
			if !strings.Contains(d.YAML, "parse as") && !strings.Contains(d.YAML, "no times") {
				t.Error("nothing is said about times")
			}
		})
	}
}

// TestInferFiller: with filler none of what was said stands in the draft, and it is as good.
func TestInferFiller(t *testing.T) {
	for name, path := range inferSamples(t) {
		data, err := os.ReadFile(filepath.Join(inferDir, name, "want.json"))
		if err != nil {
			t.Fatal(err)
		}
		var s inferSample
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		d, err := Infer(context.Background(), path, InferOptions{Filler: true})
		if errors.Is(err, ErrNoConversation) {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		m, _ := Load(d.Name+".yaml", []byte(d.YAML), nil)
		if m == nil || fatal(m.RunTests(context.Background())) {
			t.Errorf("%s: the draft with filler is not good:\n%s", name, d.YAML)
		}
		for _, w := range s.Want {
			if w.Role != chat.ToolCall && strings.Contains(w.Text, " ") && strings.Contains(d.YAML, w.Text) {
				t.Errorf("%s: %q stands in the draft", name, w.Text)
			}
		}
	}
}

// TestInferRedacts: every text of a sample passes the caller's redaction.
func TestInferRedacts(t *testing.T) {
	env := homeWith(t, map[string]string{".teal/a.jsonl": `{"role":"user","content":"the key is hunter2 ok"}` + "\n" + `{"role":"assistant","content":"I saw hunter2 too"}` + "\n"})
	d, err := Infer(context.Background(), filepath.Join(env.Home, ".teal", "a.jsonl"), InferOptions{Env: env, Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[key]") }})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(d.YAML, "hunter2") || !strings.Contains(d.YAML, "the key is [key] ok") {
		t.Errorf("not redacted:\n%s", d.YAML)
	}
}

// TestInferStartsFromAMapping: a file of a fork of a known tool gives a draft that extends it.
func TestInferStartsFromAMapping(t *testing.T) {
	set, err := NewSet(mappings.FS, nil)
	if err != nil {
		t.Fatal(err)
	}
	const name = "3c1d0a52-0000-4000-8000-00000000c1a1.jsonl"
	data, err := os.ReadFile(filepath.Join(providersDir, "kiro_cli", "home", ".kiro", "sessions", "cli", name))
	if err != nil {
		t.Fatal(err)
	}
	env := homeWith(t, map[string]string{".curlew/chats/" + name: string(data)})
	path := filepath.Join(env.Home, ".curlew", "chats", name)
	d, err := Infer(context.Background(), path, InferOptions{Env: env, Set: set})
	if err != nil {
		t.Fatal(err)
	}
	if d.Extends != "kiro_cli" || d.Name != "curlew" || !strings.Contains(d.YAML, "extends: kiro_cli") || !strings.Contains(d.YAML, "~/.curlew/chats/*.jsonl") {
		t.Fatalf("extends %q:\n%s", d.Extends, d.YAML)
	}
	m, problems := Load("curlew.yaml", []byte(d.YAML), set.base(""))
	if m == nil {
		t.Fatal(problems)
	}
	files, _ := m.Find(context.Background(), env)
	if len(files) != 1 {
		t.Fatalf("found %v", files)
	}
	if got := saidIn(readConvs(t, m, files[0], 0)); len(talkOf(got)) < 4 {
		t.Errorf("read %v", got)
	}
	if fatal(m.RunTests(context.Background())) || len(m.tests) == 0 {
		t.Error("its tests are missing or fail")
	}
}

// TestInferDatabase: tables of sessions and messages, a bare table, messages with parts, and
// a table of keys and documents.
func TestInferDatabase(t *testing.T) {
	for _, row := range []struct{ name, sql, want string }{
		{"sessions and messages", `CREATE TABLE talk(id TEXT PRIMARY KEY, title TEXT, folder TEXT, created_at INTEGER);
			CREATE TABLE line(id INTEGER PRIMARY KEY, talk_id TEXT, author TEXT, body TEXT, sent INTEGER);
			INSERT INTO talk VALUES('t1','Tides','/srv/tide',1772323200),('t2','Moon','/srv/moon',1772323300);
			INSERT INTO line VALUES(1,'t1','human','When is high water?',1772323201),(2,'t1','bot','At six in the morning.',1772323202),
				(3,'t2','human','Is it full?',1772323301),(4,'t2','bot','Nearly full.',1772323302);`,
			"user When is high water?|assistant At six in the morning.|user Is it full?|assistant Nearly full."},
		{"one table", `CREATE TABLE log(session TEXT, role TEXT, content TEXT, ts REAL);
			INSERT INTO log VALUES('a','user','Hello, who is there?',1772323201.5),('a','assistant','Only me.',1772323202.5),('b','user','Good night then',1772323301),('b','assistant','Good night.',1772323302);`,
			"user Hello, who is there?|assistant Only me.|user Good night then|assistant Good night."},
		{"blocks in a column", `CREATE TABLE sessions(id TEXT, name TEXT); CREATE TABLE messages(id TEXT, session_id TEXT, role TEXT, parts TEXT, created_at INTEGER);
			INSERT INTO sessions VALUES('s1','Ports');
			INSERT INTO messages VALUES('m1','s1','user','[{"type":"text","data":{"text":"Which port is open?"}}]',1772323201),
				('m2','s1','assistant','[{"type":"reasoning","data":{"thinking":"look it up"}},{"type":"tool_call","data":{"id":"c1","name":"ss","input":"{\"all\":true}"}}]',1772323202),
				('m3','s1','tool','[{"type":"tool_result","data":{"tool_call_id":"c1","name":"ss","content":"8080"}}]',1772323203),
				('m4','s1','assistant','[{"type":"text","data":{"text":"8080 is open."}}]',1772323204);`,
			`user Which port is open?|reasoning look it up|tool_call ss {"all":true}|tool_result 8080|assistant 8080 is open.`},
		{"messages and parts", `CREATE TABLE session(id TEXT, title TEXT); CREATE TABLE message(id TEXT, session_id TEXT, role TEXT, created INTEGER); CREATE TABLE part(id TEXT, message_id TEXT, data TEXT);
			INSERT INTO session VALUES('s1','Nets');
			INSERT INTO message VALUES('m1','s1','user',1772323201),('m2','s1','assistant',1772323202);
			INSERT INTO part VALUES('p1','m1','{"type":"text","text":"Mend the net please"}'),('p2','m2','{"type":"text","text":"It is mended now."}'),('p3','m2','{"type":"tool","tool":"sew","callID":"c","state":{"input":{"n":1},"output":"done"}}');`,
			`user Mend the net please|assistant It is mended now.|tool_call sew {"n":1}|tool_result done`},
		{"numbers take turns", `CREATE TABLE rooms(room_id TEXT PRIMARY KEY, topic TEXT, home_dir TEXT, born INTEGER);
			CREATE TABLE lines(n INTEGER PRIMARY KEY, room_id TEXT, speaker INTEGER, body TEXT, extra TEXT, stamp INTEGER);
			INSERT INTO rooms VALUES('r1','Shore walk','/home/mara/shore',1780000000);
			INSERT INTO lines VALUES(1,'r1',0,'Which path is dry?',NULL,1780000001),(2,'r1',1,'The upper path is dry.','{"tools":[{"id":"x1","tool":"look","args":{"where":"path"},"result":"dry"}]}',1780000005),
				(3,'r1',0,'How long is it?',NULL,1780000060),(4,'r1',1,'Two miles to the light.',NULL,1780000063);`,
			`user Which path is dry?|assistant The upper path is dry.|tool_call look {"where":"path"}|tool_result dry|user How long is it?|assistant Two miles to the light.`},
		{"people under their names", `CREATE TABLE threads(tid INTEGER PRIMARY KEY, name TEXT); CREATE TABLE posts(pid INTEGER PRIMARY KEY, tid INTEGER, payload TEXT, added REAL);
			INSERT INTO threads VALUES(7,'Seal count');
			INSERT INTO posts VALUES(1,7,'{"from":"mara","kind":"text","text":"How many seals are out there?"}',1780000001.5),
				(2,7,'{"from":"skerry-bot","kind":"text","text":"I count them from the photo."}',1780000003.5),
				(3,7,'{"from":"skerry-bot","kind":"run","run":{"cmd":"count seals.jpg","id":"k-1"}}',1780000004.5),
				(4,7,'{"from":"shell","kind":"ran","of":"k-1","out":"14"}',1780000005.5),
				(5,7,'{"from":"skerry-bot","kind":"text","text":"Fourteen seals are out there."}',1780000006.5),
				(6,7,'{"from":"mara","kind":"text","text":"And any pups with them?"}',1780000016.5);`,
			`user How many seals are out there?|assistant I count them from the photo.|tool_call run count seals.jpg|tool_result 14|assistant Fourteen seals are out there.|user And any pups with them?`},
		{"numbers, of which one gives results", `CREATE TABLE desk(desk_id TEXT PRIMARY KEY, caption TEXT, started_s INTEGER, home_dir TEXT);
			CREATE TABLE utterance(id INTEGER PRIMARY KEY, desk TEXT, speaker INTEGER, body TEXT, said_s REAL, stack TEXT, deleted INTEGER DEFAULT 0);
			INSERT INTO desk VALUES('q-01','Crane schedule',1790500000,'/home/ines/quay'),('q-02','Tide tables',1790600000,'/home/ines/quay');
			INSERT INTO utterance(desk, speaker, body, said_s, stack, deleted) VALUES('q-01',1,'Two cranes are booked for Friday.',1790500010.2,NULL,0),
				('q-01',2,'I will look at the schedule.',1790500014,'{"calls":[{"id":"k1","fn":"query","args":{"day":"fri"}}]}',0),('q-01',3,'crane 1, crane 2',1790500015.5,'{"for":"k1","error":false}',0),
				('q-01',2,'They share the hour but not the berth.',1790500020,NULL,0),('q-01',1,'are you surre?',1790500040,NULL,1),('q-01',1,'Are you sure?',1790500045,NULL,0),
				('q-01',2,'Yes: berths 4 and 7.',1790500050,NULL,0),('q-02',1,'When is high tide on Sunday?',1790600005,NULL,0),('q-02',2,'At 14:20, I think.',1790600009,NULL,0);`,
			`user Two cranes are booked for Friday.|assistant I will look at the schedule.|tool_call query {"day":"fri"}|tool_result crane 1, crane 2|assistant They share the hour but not the berth.|user Are you sure?|assistant Yes: berths 4 and 7.|user When is high tide on Sunday?|assistant At 14:20, I think.`},
		{"letters, and a third one now and then", `CREATE TABLE thread(tid INTEGER PRIMARY KEY, uid TEXT, head TEXT, dir TEXT, born INTEGER);
			CREATE TABLE msg(mid INTEGER PRIMARY KEY, tid INTEGER, who TEXT, payload BLOB, at_ms INTEGER);
			INSERT INTO thread VALUES(1,'5f0c-aa','Dike inspection','/srv/dike',1784000000),(2,'5f0c-ab',NULL,'/srv/dike',1784100000);
			INSERT INTO msg VALUES(1,1,'H','{"t":"Is the dike at km 12 dry?"}',1784000001000),(2,1,'A','{"t":"Reading the sensors."}',1784000004000),(3,1,'A','{"t":"Yes: 3 % moisture."}',1784000009000),
				(4,1,'H','{"t":"And at km 14?"}',1784000025000),(5,1,'A','{"t":"There is no sensor there."}',1784000031000),(6,1,'S','{"t":"context trimmed"}',1784000032000),
				(7,2,'H','{"t":"Who built the sluice?"}',1784100001000),(8,2,'A','{"t":"The water board, in 1931."}',1784100003000);`,
			`user Is the dike at km 12 dry?|assistant Reading the sensors. Yes: 3 % moisture.|user And at km 14?|assistant There is no sensor there.|user Who built the sluice?|assistant The water board, in 1931.`},
		{"keys and documents", `CREATE TABLE kv(key TEXT PRIMARY KEY, value BLOB);
			INSERT INTO kv VALUES('theme','"dark"'),('chat:1','{"title":"Eggs","messages":[{"role":"user","content":"How long for an egg?"},{"role":"assistant","content":"Six minutes."}]}');`,
			"user How long for an egg?|assistant Six minutes."},
	} {
		t.Run(row.name, func(t *testing.T) {
			env := homeWith(t, nil)
			path := filepath.Join(env.Home, ".tern", "tern.db")
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			buildDB(t, path, row.sql)
			got, d, err := drafted(t, path, env.Home)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, s := range saidIn(got) {
				lines = append(lines, string(s.Role)+" "+s.Text)
			}
			if have := strings.Join(lines, "|"); have != row.want {
				t.Errorf("got  %s\nwant %s\n%s", have, row.want, d.YAML)
			}
			m, _ := Load(d.Name+".yaml", []byte(d.YAML), nil)
			if len(m.tests) == 0 || len(m.tests[0].expect) == 0 {
				t.Errorf("no test in, or one that expects nothing:\n%s", d.YAML)
			}
			for _, p := range m.RunTests(context.Background()) {
				if !p.Warning {
					t.Errorf("%s", p)
				}
			}
		})
	}
}

// TestInferText: a text in which headings, or words with a colon, say who speaks.
func TestInferText(t *testing.T) {
	for _, text := range []string{
		"# A talk\n\n## User\n\nWhere is the key?\n\n## Assistant\n\nUnder the mat.\nOr not.\n\n## User\n\nThanks\n\n## Assistant\n\nAny time.\n",
		"User: Where is the key?\nAssistant: Under the mat.\nOr not.\nUser: Thanks\nAssistant: Any time.\n",
		"**Human:** Where is the key?\n\n**AI:** Under the mat.\nOr not.\n\n**Human:** Thanks\n\n**AI:** Any time.\n",
	} {
		env := homeWith(t, map[string]string{"talks/key.md": text})
		got, d, err := drafted(t, filepath.Join(env.Home, "talks", "key.md"), env.Home)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		want := []said{{chat.User, "Where is the key?"}, {chat.Assistant, "Under the mat. Or not."}, {chat.User, "Thanks"}, {chat.Assistant, "Any time."}}
		if have := saidIn(got); !slices.Equal(have, want) {
			t.Errorf("got %v, want %v\n%s", have, want, d.YAML)
		}
		m, _ := Load(d.Name+".yaml", []byte(d.YAML), nil)
		if len(m.tests) == 0 || fatal(m.RunTests(context.Background())) {
			t.Errorf("no test, or a failing one, in\n%s", d.YAML)
		}
	}
}

// TestInferFolder: of a folder the files that hold most talk give the draft, and its pattern
// finds all of them.
func TestInferFolder(t *testing.T) {
	talk := func(a, b string) string {
		return `{"role":"user","content":"` + a + `"}` + "\n" + `{"role":"assistant","content":"` + b + `"}` + "\n"
	}
	env := homeWith(t, map[string]string{
		".snipe/settings.json":   `{"theme":"dark","keys":[{"k":"a"},{"k":"b"}]}`,
		".snipe/chats/1/a.jsonl": talk("Where do snipes hide?", "In the reeds."), ".snipe/chats/2/b.jsonl": talk("And coots?", "On the water."),
		".snipe/log/run.log": "started\nstopped\n",
	})
	d, err := Infer(context.Background(), filepath.Join(env.Home, ".snipe"), InferOptions{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	m, problems := Load(d.Name+".yaml", []byte(d.YAML), nil)
	if m == nil {
		t.Fatal(problems)
	}
	if files, _ := m.Find(context.Background(), env); len(files) != 2 {
		t.Errorf("found %v with\n%s", files, d.YAML)
	}
}

// TestInferSaysWhatItCannotTell: what is no talk is named.
func TestInferSaysWhatItCannotTell(t *testing.T) {
	for _, row := range []struct {
		name, file, content string
		none                bool // ErrNoConversation, else unreadable
		want                string
	}{
		{"settings", "a.json", `{"theme":"dark","size":12}`, true, "without a list of messages"},
		{"measurements", "a.jsonl", `{"t":1,"v":2}` + "\n" + `{"t":2,"v":3}` + "\n", true, "2 JSON lines"},
		{"prose", "a.txt", "Once upon a time there was a heron.\nIt stood.\n", true, "no line such as"},
		{"binary", "a.bin", "\x7fELF\x00\x01\x02", true, "binary data"},
		{"half a document", "a.json", `{"messages":[{"role":"user","content":"hi th`, false, "not one whole JSON document"},
		{"empty", "a.jsonl", "", true, ""},
	} {
		env := homeWith(t, map[string]string{row.file: row.content})
		_, err := Infer(context.Background(), filepath.Join(env.Home, row.file), InferOptions{Env: env})
		if err == nil || errors.Is(err, ErrNoConversation) != row.none || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
	if _, err := Infer(context.Background(), filepath.Join(t.TempDir(), "none"), InferOptions{}); err == nil || errors.Is(err, ErrNoConversation) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestInferNobodySpeaks: where nothing says who speaks nothing is invented, but there is a draft
// to go on with: it reads its own file, and says in front what is left to do.
func TestInferNobodySpeaks(t *testing.T) {
	for _, row := range []struct {
		file, content string
		wants         []string
		messages      int
	}{
		{".gull/a.json", `{"talk":[{"way":"in","say":{"text":"Is the bridge up?"}},{"way":"in","say":{"text":"It is down now."}},` +
			`{"way":"out","say":{"text":"When does it open?"}},{"way":"out","say":{"text":"At six o'clock."}}]}`, []string{
			"# GAP 4 elements at `talk`; `say.text` is prose in 4 of them, but nothing says who speaks; `way` is in 2, out 2. The rules make system messages",
			"{when: {way: in}, as: system, text: say.text}", "{when: {way: out}, as: system, text: say.text}",
		}, 4},
		{".gull/b.jsonl", `{"say":"Is the bridge up, or has the tide come in?"}` + "\n" + `{"say":"It is down now, but for an hour."}` + "\n" + `{"say":"Then I shall wait for it here."}` + "\n", []string{
			"# GAP 3 lines; `say` is prose in 3 of them, but nothing says who speaks.", "as: system, text: say}",
		}, 3},
	} {
		env := homeWith(t, map[string]string{row.file: row.content})
		path := filepath.Join(env.Home, filepath.FromSlash(row.file))
		got, d, err := drafted(t, path, env.Home)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, want := range row.wants {
			if !strings.Contains(d.YAML, want) {
				t.Errorf("%s: no %q in\n%s", path, want, d.YAML)
			}
		}
		if len(got) != 1 || len(got[0].Messages) != row.messages || !strings.Contains(d.YAML, "\ntests:\n") {
			t.Errorf("%s: read %+v with\n%s", path, got, d.YAML)
		}
		folder, err := Infer(context.Background(), filepath.Dir(path), InferOptions{Env: env})
		if err != nil || !strings.Contains(folder.YAML, row.wants[0]) {
			t.Errorf("its folder: %v\n%s", err, folder.YAML)
		}
	}
}

// TestInferLeavesGaps: a kind of record that holds prose of nobody known is a marked gap and
// no rule, so that it stays news.
func TestInferLeavesGaps(t *testing.T) {
	env := homeWith(t, map[string]string{".rail/log.jsonl": `{"type":"user","content":"Where is the rail?"}
{"type":"assistant","content":"In the ditch."}
{"type":"bulletin","content":"the water rises by the hour"}
{"type":"tick","n":1}
`})
	got, d, err := drafted(t, filepath.Join(env.Home, ".rail", "log.jsonl"), env.Home)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(d.YAML, "# GAP `content` is prose in 1 of 1") || !strings.Contains(d.YAML, "{when: {type: tick}, as: skip}") {
		t.Errorf("no gap, or no skip:\n%s", d.YAML)
	}
	if n := got[0].Read.NoRule["bulletin"]; n != 1 {
		t.Errorf("news %v", got[0].Read.NoRule)
	}
}

// TestInferLongFile: more different values than are counted do not hide what joins calls and
// results, or what links records.
func TestInferLongFile(t *testing.T) {
	var b strings.Builder
	for i := range surveyValuesMax + 100 {
		fmt.Fprintf(&b, `{"n":"q%d","up":"r%d","who":"human","say":"Where is boat %d?"}`+"\n", i, i-1, i)
		fmt.Fprintf(&b, `{"n":"c%d","up":"q%d","who":"log","kind":"call","ref":"k%d","tool":"find","args":{"boat":%d}}`+"\n", i, i, i, i)
		fmt.Fprintf(&b, `{"n":"o%d","up":"c%d","who":"log","kind":"result","ref":"k%d","out":"pier %d"}`+"\n", i, i, i, i)
		fmt.Fprintf(&b, `{"n":"r%d","up":"o%d","who":"bot","say":"It is at pier %d."}`+"\n", i, i, i)
	}
	env := homeWith(t, map[string]string{".skua/long.jsonl": b.String()})
	_, d, err := drafted(t, filepath.Join(env.Home, ".skua", "long.jsonl"), env.Home)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"as: tool_call, name: tool, call: ref", "as: tool_result, call: ref", "parent: up"} {
		if !strings.Contains(d.YAML, want) {
			t.Errorf("no %q in\n%s", want, d.YAML)
		}
	}
}

// FuzzInfer: whatever a file holds, there is no panic, and every draft loads. Small files
// alone: a draft reads its file several times over, and the engine spends a minute on the
// minimizing of each large one, so that a run with them comes to hardly any input.
func FuzzInfer(f *testing.F) {
	const fuzzedMaxBytes = 2 << 10
	for _, path := range inferSamples(f) {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) <= fuzzedMaxBytes {
			f.Add(data, "a"+filepath.Ext(path))
		}
	}
	f.Add([]byte("User: hi\nAssistant: ho\n"), "a.md")
	f.Add([]byte(`{"any":{"role":"user","not":"x y"}}`+"\n"+`{"any":{"role":"bot","not":"x y"}}`+"\n"), "a[b]{c}.jsonl")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		name = filepath.Base(name)
		if len(data) > 2*fuzzedMaxBytes || !filepath.IsLocal(name) || strings.ContainsAny(name, "/\\\x00") || len(name) > 60 || name == "." {
			return
		}
		path := filepath.Join(dir, name)
		if os.WriteFile(path, data, 0o666) != nil {
			return
		}
		defer os.Remove(path)
		began := time.Now()
		d, err := Infer(context.Background(), path, InferOptions{Env: Env{Home: dir}})
		if took := time.Since(began); took > 10*time.Second {
			t.Fatalf("took %v", took)
		}
		if err != nil {
			if strings.Contains(err.Error(), "does not load") {
				t.Fatal(err)
			}
			return
		}
		m, problems := Load(d.Name+".yaml", []byte(d.YAML), nil)
		if m == nil {
			t.Fatalf("%v\n%s", problems, d.YAML)
		}
	})
}

// TestInferIDInTheFilesName: a value that stands once, and with which the file's name begins,
// is the conversation's id under whatever key; a kind of record may give its name.
func TestInferIDInTheFilesName(t *testing.T) {
	env := homeWith(t, map[string]string{".weir/w-4411.events.jsonl": `{"kind":"begin","payload":{"run":"w-4411","model":"brook"}}
{"kind":"user","payload":{"text":"Why does the mill wheel stall?"}}
{"kind":"assistant","payload":{"text":"The sluice opens too fast for it."}}
{"kind":"run.named","payload":{"name":"The wheel stalls"}}
`})
	got, d, err := drafted(t, filepath.Join(env.Home, ".weir", "w-4411.events.jsonl"), env.Home)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].ID != "w-4411" || got[0].Title != "The wheel stalls" {
		t.Errorf("conversations %v\n%s", got, d.YAML)
	}
}
