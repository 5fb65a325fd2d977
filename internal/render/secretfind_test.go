package render

import (
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Letters that invented secrets are made of. Every secret here is put together while the tests
// run, so that no scanner takes this file for a leak.
const (
	digits   = "0123456789"
	hexa     = "0123456789abcdef"
	small    = "abcdefghijklmnopqrstuvwxyz0123456789"
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	letters  = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
)

// invented is n letters, always the same for a seed, the first three of them a digit, a small
// letter and a capital where there are such.
func invented(seed string, n int, from string) string {
	sum := uint64(14695981039346656037)
	for i := range len(seed) {
		sum = (sum ^ uint64(seed[i])) * 1099511628211
	}
	r := rand.New(rand.NewPCG(sum, 7))
	b := make([]byte, n)
	for i := range b {
		b[i] = from[r.IntN(len(from))]
	}
	for i, set := range []string{digits, "abcdef", "ABCDEF"} {
		if i < n {
			if at := strings.IndexAny(from, set); at >= 0 {
				b[i] = from[at+r.IntN(min(6, len(from)-at))]
			}
		}
	}
	return string(b)
}

// A sample is an invented secret. Around says in which words such a thing stands, "%s" where
// the secret goes; "" = it is known by itself.
type sample struct {
	name, secret, around string
	kind                 string // "" = any
}

func samples() []sample {
	in := func(n int, from string) func(string) string {
		return func(seed string) string { return invented(seed, n, from) }
	}
	var list []sample
	add := func(name, kind, prefix string, rest ...any) {
		secret := prefix
		for i, part := range rest {
			switch part := part.(type) {
			case string:
				secret += part
			case func(string) string:
				secret += part(fmt.Sprint(name, i))
			}
		}
		list = append(list, sample{name, secret, "", kind})
	}
	named := func(name, kind, around string, secret string) {
		list = append(list, sample{name, secret, around, kind})
	}
	add("github classic", "github-pat", "gh"+"p_", in(36, letters))
	add("github fine-grained", "github-fine-grained-pat", "github"+"_pat_", in(82, letters))
	add("github oauth", "github-oauth", "gh"+"o_", in(36, letters))
	add("github app", "github-app-token", "gh"+"s_", in(36, letters))
	add("gitlab", "gitlab-pat", "gl"+"pat-", in(20, letters))
	add("gitlab runner", "", "gl"+"rt-", in(20, letters))
	add("aws id", "aws-access-token", "AK"+"IA", in(16, capitals))
	add("aws temporary id", "aws-access-token", "AS"+"IA", in(16, capitals))
	add("aws session", "aws-session-token", "IQoJb3Jp"+"Z2luX2", in(300, letters))
	add("google api", "gcp-api-key", "AI"+"za", in(35, letters))
	add("google oauth", "google-oauth-token", "ya"+"29.", in(120, letters))
	add("google client", "google-client-secret", "GOC"+"SPX-", in(28, letters))
	add("anthropic", "", "sk-"+"ant-api03-", in(93, letters), "AA")
	add("anthropic login", "sk-api-key", "sk-"+"ant-oat01-", in(86, letters))
	add("openai", "sk-api-key", "sk-"+"proj-", in(74, letters), "T3Blbk"+"FJ", in(74, letters))
	add("openai old", "sk-api-key", "sk"+"-", in(20, letters), "T3Blbk"+"FJ", in(20, letters))
	add("openrouter", "sk-api-key", "sk-"+"or-v1-", in(64, hexa))
	add("hex sk", "sk-api-key", "sk"+"-", in(32, hexa))
	add("groq", "groq-api-key", "gs"+"k_", in(52, letters))
	add("xai", "xai-api-key", "xa"+"i-", in(80, letters))
	add("hugging face", "huggingface-access-token", "h"+"f_", in(34, "abcdefghijklmnopqrstuvwxyz"))
	add("replicate", "replicate-api-token", "r"+"8_", in(37, letters))
	add("tavily", "tavily-api-key", "tv"+"ly-", in(32, letters))
	add("pinecone", "pinecone-api-key", "pc"+"sk_", in(70, letters))
	add("langsmith", "langsmith-api-key", "ls"+"v2_pt_", in(32, hexa), "_", in(10, hexa))
	add("slack bot", "slack-bot-token", "xo"+"xb-", in(12, digits), "-", in(12, digits), "-", in(24, letters))
	add("slack user", "slack-user-token", "xo"+"xp-", in(12, digits), "-", in(12, digits), "-", in(12, digits), "-", in(32, hexa))
	add("slack app", "slack-app-token", "xa"+"pp-1-", in(11, capitals), "-", in(12, digits), "-", in(64, hexa))
	add("slack hook", "slack-webhook-url", "https://hooks.sl"+"ack.com/services/", in(44, letters))
	add("stripe live", "stripe-access-token", "sk"+"_live_", in(24, letters))
	add("stripe restricted", "stripe-access-token", "rk"+"_test_", in(24, letters))
	add("stripe hook", "webhook-secret", "wh"+"sec_", in(32, letters))
	add("twilio", "twilio-api-key", "S"+"K", in(32, hexa))
	add("sendgrid", "sendgrid-api-token", "S"+"G.", in(22, letters), ".", in(43, letters))
	add("npm", "npm-access-token", "np"+"m_", in(36, letters))
	add("pypi", "pypi-upload-token", "py"+"pi-AgEIcHlw"+"aS5vcmc", in(80, letters))
	add("rubygems", "rubygems-api-token", "ruby"+"gems_", in(48, hexa))
	add("docker", "docker-token", "dck"+"r_pat_", in(27, letters))
	add("digitalocean", "digitalocean-pat", "do"+"p_v1_", in(64, hexa))
	add("shopify", "shopify-access-token", "shp"+"at_", in(32, hexa))
	add("databricks", "databricks-api-token", "da"+"pi", in(32, hexa))
	add("linear", "linear-api-key", "lin"+"_api_", in(40, letters))
	add("notion", "notion-api-token", "nt"+"n_", in(11, digits), in(35, letters))
	add("figma", "figma-token", "fi"+"gd_", in(40, letters))
	add("postman", "postman-api-token", "PM"+"AK-", in(24, hexa), "-", in(34, hexa))
	add("perplexity", "perplexity-api-key", "pp"+"lx-", in(48, letters))
	add("grafana", "grafana-service-account-token", "gl"+"sa_", in(32, letters), "_", in(8, hexa))
	add("vault", "vault-service-token", "hv"+"s.", in(95, letters))
	add("supabase", "supabase-token", "sb"+"p_", in(40, hexa))
	add("netlify", "netlify-token", "nf"+"p_", in(36, letters))
	add("planetscale", "planetscale-api-token", "psc"+"ale_tkn_", in(43, letters))
	add("doppler", "doppler-api-token", "dp"+".pt.", in(43, letters))
	add("age", "age-secret-key", "AGE-SEC"+"RET-KEY-1", in(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"))
	add("jwt", "jwt", "ey"+"J", in(40, letters), ".ey"+"J", in(90, letters), ".", in(43, letters))
	add("atlassian", "atlassian-api-token", "ATA"+"TT3", in(186, letters))
	add("telegram in a URL", "telegram-bot-api-token", "https://api.telegram.org/bo"+"t", in(9, digits), ":AA", in(33, letters))
	add("azure ad", "azure-ad-client-secret", "", in(3, letters), "8Q"+"~", in(34, letters))
	add("private key", "private-key", "-----BEGIN RSA PRIV"+"ATE KEY-----\n", func(seed string) string {
		var b strings.Builder
		for i := range 12 {
			b.WriteString(invented(fmt.Sprint(seed, i), 64, letters) + "\n")
		}
		return b.String() + "-----END RSA PRIV" + "ATE KEY-----"
	})

	named("assigned key", "generic-api-key", "api_key = %s", invented("assigned", 32, letters))
	named("aws secret", "generic-api-key", "aws_secret_access_key=%s", invented("awss", 40, letters+"+/"))
	named("query", "generic-api-key", "https://heron.example/v1?access_token=%s&page=2", invented("query", 32, letters))
	named("datadog", "", "DATADOG_API_KEY: %s", invented("datadog", 40, hexa))
	named("cloudflare", "", "cloudflare_token: %s", invented("cf", 40, letters))
	named("url", "url-password", "postgres://marsh:%s@db.example:5432/herons", "q8"+invented("url", 14, letters)+"!")
	named("basic", "authorization", "Authorization: Basic %s", invented("basic", 28, letters))
	named("bearer", "", "Authorization: Bearer %s", invented("bearer", 40, letters))
	named("environment", "password", "DB_PASSWORD=%s", "Wad3r-"+invented("env", 6, letters)+"!x")
	named("flag", "password", "mysql --password %s -h db", "Wad3r-"+invented("flag", 6, letters)+"!x")
	named("netrc", "password", "machine heron.example login marsh password %s", invented("netrc", 12, small))
	named("azure storage", "azure-storage-key", "DefaultEndpointsProtocol=https;AccountName=heron;AccountKey=%s;", invented("az", 86, letters)+"==")
	return list
}

// positions are where a secret stands in what tools and people write.
var positions = []struct {
	name string
	put  func(s string) string
}{
	{"in prose", func(s string) string { return "The heron's key is " + s + ", as we said. Do not lose it." }},
	{"alone on a line", func(s string) string { return "Output:\n" + s + "\ndone\n" }},
	{"in a tool's input", func(s string) string {
		return `{"command":` + asString("echo \""+s+"\" > nest\ncat nest") + `,"timeout":120}`
	}},
	{"behind an escape, in JSON inside of JSON", func(s string) string {
		return `{"body":` + asString(`{"lines":`+asString("first\n"+s+"\n\tlast")+`}`) + `}`
	}},
	{"in colour", func(s string) string { return "got \x1b[32m" + s + "\x1b[0m\r\n" }},
	{"in HTML", func(s string) string { return "<p title=&quot;" + html.EscapeString(s) + "&quot;>nest</p>" }},
	{"in a diff", func(s string) string { return "@@ -1 +1,2 @@\n nest\n+" + strings.ReplaceAll(s, "\n", "\n+") + "\n" }},
}

func asString(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// bare is a text without what stands between the parts of a secret that goes over lines.
func bare(s string) string {
	return regexp.MustCompile(`(?:\\+n|[\s+])+`).ReplaceAllString(s, "")
}

// TestSecretsAreFound: every kind in every position, and JSON stays JSON.
func TestSecretsAreFound(t *testing.T) {
	kinds, found, all := map[string]bool{}, 0, 0
	for _, s := range samples() {
		around := s.around
		if around == "" {
			around = "%s"
		}
		for _, p := range positions {
			all++
			text := p.put(strings.Replace(around, "%s", s.secret, 1))
			counts := tally{}
			got := Redactor(Secrets).whole(text, counts)
			if strings.Contains(bare(got), bare(s.secret)) || strings.Contains(bare(got), bare(s.secret)[len(bare(s.secret))/2:]) {
				t.Errorf("%s, %s: not found in\n%s\nbut %v: %s", s.name, p.name, text, counts, got)
				continue
			}
			if s.kind != "" && counts[s.kind] == 0 {
				t.Errorf("%s, %s: taken for %v, not %s", s.name, p.name, counts, s.kind)
			}
			if json.Valid([]byte(text)) && !json.Valid([]byte(got)) {
				t.Errorf("%s, %s: no JSON any more:\n%s", s.name, p.name, got)
			}
			if again := Redactor(Secrets).whole(got, tally{}); again != got {
				t.Errorf("%s, %s: redacted again:\n%s\n%s", s.name, p.name, got, again)
			}
			found++
			for kind := range counts {
				kinds[kind] = true
			}
		}
	}
	t.Logf("%d of %d found: %d secrets of %d kinds in %d positions", found, all, len(samples()), len(kinds), len(positions))
	if len(kinds) < 40 || len(positions) < 5 {
		t.Errorf("%d kinds in %d positions", len(kinds), len(positions))
	}
}

// clean is what looks like secrets to a careless rule, and is none.
func clean() map[string]string {
	uuid := func(seed string) string {
		h := invented(seed, 32, hexa)
		return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
	}
	var hashes, uuids, lock, gosum, cargo, ids, checkpoints strings.Builder
	for i := range 300 {
		n := fmt.Sprint(i)
		fmt.Fprintf(&hashes, "commit %s\nkey %s\n%s  nest%d.txt\nsha256:%s\nmd5: %s\nindex %s..%s 100644\ntoken-hash: %s\n", invented("c"+n, 40, hexa), invented("k"+n, 40, hexa),
			invented("s"+n, 64, hexa), i, invented("d"+n, 64, hexa), invented("m"+n, 32, hexa), invented("a"+n, 7, hexa), invented("b"+n, 7, hexa), invented("t"+n, 40, hexa))
		fmt.Fprintf(&uuids, "id %s\n\"key\": \"%s\",\n{\"access\":\"%s\",\"sessionId\":\"%s\"}\ntoken=%s\n", uuid("1"+n), uuid("2"+n), uuid("3"+n), uuid("4"+n), uuid("5"+n))
		fmt.Fprintf(&lock, "    \"node_modules/auth-token-%d\": {\n      \"version\": \"4.%d.2\",\n      \"resolved\": \"https://registry.npmjs.example/auth-token/-/auth-token-4.%d.2.tgz\",\n      \"integrity\": \"sha512-%s==\",\n      \"engines\": {\"node\": \">=18\"}\n    },\n", i, i, i, invented("n"+n, 86, letters+"+/"))
		fmt.Fprintf(&gosum, "golang.example/x/oauth2 v0.%d.0 h1:%s=\ngolang.example/x/key v0.%d.0/go.mod h1:%s=\n", i, invented("g"+n, 43, letters+"+/"), i, invented("o"+n, 43, letters+"+/"))
		fmt.Fprintf(&cargo, "[[package]]\nname = \"secret-key-%d\"\nversion = \"0.%d.1\"\nsource = \"registry+https://github.example/index\"\nchecksum = \"%s\"\n\n", i, i, invented("q"+n, 64, hexa))
		fmt.Fprintf(&ids, "{\"type\":\"tool_use\",\"id\":\"toolu_01%s\",\"key\":\"msg_01%s\",\"sessionKey\":\"ses_%s\",\"auth\":\"call_%s\"}\n", invented("x"+n, 22, letters), invented("y"+n, 22, letters), invented("z"+n, 26, letters), invented("w"+n, 24, letters))
		fmt.Fprintf(&checkpoints, "CHAT CHECKPOINT UUID=%s SLUG=key %d found\nEND CHAT SUMMARY ID=\"claude_code:%s\"\nslugs: api key (UUID=%s), password = set (UUID=%s)\n", uuid("6"+n), i, uuid("7"+n), uuid("8"+n), uuid("9"+n))
	}
	return map[string]string{
		"hashes": hashes.String(), "uuids": uuids.String(), "package-lock": lock.String(), "go.sum": gosum.String(), "Cargo.lock": cargo.String(), "ids of tools": ids.String(), "checkpoints": checkpoints.String(),
		"image":  `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo` + invented("image", 200_000, letters+"+/") + `"}}`,
		"images": "![nest](data:image/png;base64," + invented("image2", 60_000, letters+"+/") + "=)",
		"words": `password: string; apiKey: process.env.API_KEY, token = getToken(user), "password": "********", Authorization: Bearer $TOKEN, Authorization: Bearer <token>
const key = keys[index2]; PASSWORD=${DB_PASSWORD}; PWD=/home/marsh/herons2; OLDPWD=/srv/v2; export const secretName = "heron"; if (token == null) return;
postgres://user:password@localhost:5432/db, https://heron.example:8080/a@b, git@github.example:marsh/heron.git, "access": "public", "author": "marsh <marsh@heron.example>"
The API key is missing; set OPENAI_API_KEY. Bearer authentication is required. Basic authentication works. keyboard: qwertyuiop2, primary_key: heron_id2, .sk-fading-circle-before-12 {animation-delay: 1s}
max_tokens=20000 tokens: 12345678901 "usage":{"input_tokens":1234567890,"cache_read_tokens":99887766} author-date: 2026-05-28T21:26:00Z, keyCode: 1234567890, key=2026-05-28T21:26:00`,
	}
}

// TestCleanTextsStay counts false alarms: over invented texts of the kinds that fill
// transcripts, and over the Go standard library as far as it is installed.
func TestCleanTextsStay(t *testing.T) {
	alarms, bytes := 0, 0
	for name, text := range clean() {
		bytes += len(text)
		found := Secrets(text)
		alarms += len(found)
		for _, s := range found[:min(len(found), 5)] {
			t.Errorf("%s: %s: %q", name, s.Kind, text[max(0, s.From-30):min(len(text), s.To+10)])
		}
	}
	t.Logf("%d false alarms in %d kB", alarms, bytes>>10)
}

// TestCheckpointsAreNoSecrets: not even where a rule wants a UUID near a name.
func TestCheckpointsAreNoSecrets(t *testing.T) {
	const line = "heroku UUID=4f6c1f0e-1a2b-4c3d-8e9f-0a1b2c3d4e5f SLUG=heroku key"
	if got := Redactor(Secrets).Text(line); got != line {
		t.Error(got)
	}
	if key := "heroku_api_key=4f6c1f0e-1a2b-" + "4c3d-8e9f-0a1b2c3d4e5f"; Redactor(Secrets).Text(key) == key {
		t.Error("a key of that form is not found")
	}
}

// TestSecretsNeedNoWork: nothing is compiled before a keyword is met, and then only its rules.
func TestSecretsNeedNoWork(t *testing.T) {
	_, before := RedactorWork()
	Secrets(strings.Repeat("The heron stood in the marsh. ", 1000))
	if _, after := RedactorWork(); after != before {
		t.Errorf("%d rules compiled for nothing", after-before)
	}
	Secrets("see " + "shp" + "ss_" + invented("one", 32, hexa))
	if _, after := RedactorWork(); after > before+1 {
		t.Errorf("%d rules compiled for one secret", after-before)
	}
}

// TestSecretRules: the table is sound: every pattern compiles, and every keyword can be met.
func TestSecretRules(t *testing.T) {
	n := 0
	for _, list := range [][]secretRule{keptRules, ownRules} {
		for i := range list {
			r := &list[i]
			n++
			for _, p := range []string{r.pattern, r.but, r.butIn} {
				if _, err := regexp.Compile(p); err != nil {
					t.Errorf("%s: %v", r.kind, err)
				}
			}
			words := strings.Fields(r.keywords)
			if len(words) == 0 {
				t.Errorf("%s: no keyword", r.kind)
			}
			for _, w := range words {
				if len(w) < 2 || w != strings.ToLower(w) {
					t.Errorf("%s: keyword %q", r.kind, w)
				}
			}
			if r.kind != line(r.kind) || strings.ContainsAny(r.kind, `"\[]`) {
				t.Errorf("%q: a kind stands in JSON and in marks", r.kind)
			}
		}
	}
	if n < 200 {
		t.Errorf("%d rules", n)
	}
	if _, err := os.Stat("LICENSE.gitleaks"); err != nil {
		t.Error(err)
	}
}

// TestSecretsOfCutKeys: of a key that a cut has taken an end of nothing is left to read.
func TestSecretsOfCutKeys(t *testing.T) {
	var key string
	for _, s := range samples() {
		if s.name == "private key" {
			key = s.secret
		}
	}
	for _, row := range []struct{ name, text string }{
		{"no end", "see\n" + key[:len(key)/2]},
		{"no beginning", "see this:\nand a word\n" + key[len(key)/2:] + "\nmore"},
		{"in JSON", `{"key":` + asString(key[:len(key)/2]) + `}`},
	} {
		got := Redactor(Secrets).Text(row.text)
		for l := range strings.Lines(key) {
			if l = strings.TrimSpace(l); len(l) == 64 && strings.Contains(got, l[:32]) {
				t.Errorf("%s: %s", row.name, got)
				break
			}
		}
		if row.name == "no beginning" && !strings.Contains(got, "and a word") {
			t.Errorf("%s: took the words before: %s", row.name, got)
		}
	}
}

// answer is a text of 80 kB as a fork shows: prose, code, calls and listings, with n secrets.
func answer(n int) string {
	var b strings.Builder
	list := samples()
	for i := 0; b.Len() < 80_000; i++ {
		fmt.Fprintf(&b, "> Let me look at the configuration of service %d and its api gateway.\n", i)
		fmt.Fprintf(&b, "> {\"file_path\":\"/srv/marsh/internal/auth/token%d.go\",\"old_string\":\"func key(a string) error {\\n\\treturn nil\\n}\",\"new_string\":\"func key(token, secret string) error {\\n\\treturn check(token)\\n}\"}\n", i)
		b.WriteString("> if accessToken == \"\" { return fmt.Errorf(\"auth: no token for %s\", name) } // the api key may be missing\n")
		b.WriteString("> PASS internal/auth (cached) key=value pass: true token: none; tests of the secret store follow here and so on.\n")
		fmt.Fprintf(&b, "> -rw-r--r-- 1 marsh marsh %d Nov 30 23:27 access_log.%s\n", i, invented(fmt.Sprint("f", i), 8, hexa))
		if i < n {
			b.WriteString("> " + list[i%len(list)].secret + "\n")
		}
	}
	return b.String()
}

// BenchmarkSecrets: an answer of 80 kB, without secrets and with as many as there are kinds;
// first is the first answer of a process, which compiles the rules.
func BenchmarkSecrets(b *testing.B) {
	for _, n := range []int{0, 10, 60} {
		text := answer(n)
		b.Run(fmt.Sprintf("secrets=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Secrets(text)
			}
		})
		b.Run(fmt.Sprintf("secrets=%d/first", n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				forget()
				b.StartTimer()
				Secrets(text)
			}
		})
	}
}

// forget makes every rule as it is at the start of a process.
func forget() {
	for _, list := range [][]secretRule{keptRules, ownRules} {
		for i := range list {
			r := &list[i]
			list[i] = secretRule{kind: r.kind, pattern: r.pattern, keywords: r.keywords, shape: r.shape, reach: r.reach, word: r.word, group: r.group,
				entropy: r.entropy, digit: r.digit, mixed: r.mixed, but: r.but, butIn: r.butIn, generic: r.generic}
		}
	}
}

// FuzzSecrets: places are in order, inside of the text and apart; JSON stays JSON.
func FuzzSecrets(f *testing.F) {
	for _, s := range samples()[:20] {
		for _, p := range positions {
			f.Add(p.put(s.secret))
		}
	}
	f.Add(`{"a":"\\\u0026token=\u003d"}`)
	f.Fuzz(func(t *testing.T, text string) {
		found := Secrets(text)
		at := 0
		for _, s := range found {
			if s.From < at || s.To <= s.From || s.To > len(text) || s.Kind == "" {
				t.Fatalf("%v in %q", found, text)
			}
			at = s.To
		}
		if !slices.Equal(found, Secrets(text)) {
			t.Fatal("another answer")
		}
	})
}

var _ = filepath.Join
