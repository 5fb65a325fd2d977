// Package mapping gives a mapping file its meaning. A mapping is one YAML file that
// describes how one tool writes its conversations.
//
// Mapping files and an environment (home folder, variables, roots) go in; a provider's
// files, the conversations in them, and an account of what every rule did come out. A bad
// mapping is reported in full, with positions; a bad record is counted and never stops a
// read. Nothing here writes, runs code from a mapping, or names a provider.
package mapping

import (
	"regexp"
	"sync"

	"parlance/internal/chat"
)

// A Mapping is one provider's format: checked, its selectors and patterns compiled.
// It does not change after Load and may be used by many goroutines.
type Mapping struct {
	Name, Title, About string
	NotRead            string // for people: what of the tool's conversations cannot be read, and why
	Links              []string
	Tested             []map[string]string // for people: tool version, store version
	File               string              // the file it was loaded from, "built-in" for an embedded one

	Sources []*Source
	Unique  string // which source wins between equal ids: "", "first_source" or "newest"

	conv    [fieldCount]*expr
	common  common
	rules   []*rule            // top-level messages; nil if every source names its own
	define  map[string][]*rule // named rule lists
	clean   map[chat.Role]*cleaner
	same    []*sameEntry
	layers  map[chat.Role][]string
	tree    *tree
	copied  *copied
	pair    []string // "id", "order", "near", "record": tried in turn
	lookups map[string]*lookup
	tests   []*test

	prepareOnce sync.Once
	keysOnce    sync.Once
	keySense    *keySense
	rewinds     bool // some rule rewinds
	grows       bool // some rule has more

	labelsOnce sync.Once
	labels     map[string][][]string // see discriminators
	tables     sync.Map              // lookups that were read, by tableKey

	extends   string         // the mapping that this one starts from
	text      *textFile      // its own text, not that of extends
	selectors []usedSelector // all of them, in the order of compilation
}

// A usedSelector is a selector with the key path of its place, for coverage by tests.
type usedSelector struct {
	sel  *selector
	path string
}

// pos is a place in a mapping file, 1-based. Zero means no place. file is nil only for no
// place; a mapping that extends another has positions in both files.
type pos struct {
	line, col int
	file      *textFile
}

// A Source says where files of one kind are, and how they are cut into records.
type Source struct {
	ID           string
	Paths        []string
	Exclude      []string
	PathsFrom    *pathsFrom
	Split        []string       // environment variables that may hold several values
	Capture      *regexp.Regexp // on the whole path; named groups become file:NAME
	Subagent     bool           // kind: subagent
	onePerFolder bool           // one_per: folder
	Container    string         // "jsonl", "json", "sqlite", "text" or "decoder"
	Unsupported  string         // the reason why these files cannot be read

	when     *cond
	unless   *cond  // holds for no record of an accepted file
	messages string // name of a list in define, "" = the top-level rules
	sidecars []sidecar

	// json, and a jsonl with replay or with a document a line
	records       []*selector // the first that is not empty
	conversations []*selector // of which the first that is not empty counts
	children      *selector
	join          []*join
	replay        *replay

	// sqlite
	list, sql string
	jsonCols  []string
	packed    []string
	log       string // column whose lines are the records
	broken    string // column that says what is wrong with a row
	needs     []tableNeed
	instead   string // id of the source that must not accept the database
	listPos   pos
	sqlPos    pos

	// text
	start *regexp.Regexp
	lines []lineKind

	// decoder
	Decoder string
	Options map[string]string

	pos   pos
	index int
}

// Several says that a file of this source may hold several conversations side by side.
func (s *Source) Several() bool { return s.conversations != nil || s.start != nil || s.list != "" }

type pathsFrom struct {
	file string    // pattern of the registry
	each *selector // the list of elements
	path string    // pattern with {selector} braces
	as   string    // the element is then side:as
	pos  pos
}

type sidecar struct {
	name string
	path template // relative to the file's folder; parts: stem, name, dir, capture groups, doc:…
}

// A join adds files beside a document, one level per join.
type join struct {
	files template // relative pattern; parts: {stem} of the file one level up, or selectors on it
	as    string
	order *selector // in each file; nil = by name
	self  bool      // a file with children is a record of its own too, behind theirs
	join  []*join   // at most one
	pos   pos
}

// replay makes the lines of a log edits of one document.
type replay struct {
	op, path, value, at         *selector
	init, set, appendOp, remove string
}

type tableNeed struct {
	table   string
	columns []string
}

type lineKind struct {
	kind  string
	match *regexp.Regexp
	then  *regexp.Regexp // lines that belong to the record which this entry opened
}

// field is a conversation key, in the order in which conv: may refer back.
type field int

const (
	fieldID field = iota
	fieldTitle
	fieldCwd
	fieldBranch
	fieldVersion
	fieldModel
	fieldParent
	fieldSubagent
	fieldStarted
	fieldUpdated
	fieldCount
)

// fieldNames are the YAML keys of conversation, in the order of field.
var fieldNames = [fieldCount]string{"id", "title", "cwd", "branch", "version", "model", "parent", "subagent", "started", "updated"}

// common holds what counts for every message that does not say otherwise.
type common struct {
	time, id, reply, abandoned *expr
	glue                       *glue
}

// glue says how neighbouring pieces of one role out of one record are joined.
type glue struct {
	off  bool
	text string
}

// A rule makes messages of an element, or acts on the conversation.
type rule struct {
	path string // "messages[3]", "define.record[1].first[0]": for explain and problems
	pos  pos
	why  string

	when *cond
	in   []*selector
	each []*selector

	first, all []*rule
	use        string
	useRules   []*rule // of use, resolved at load

	as     string // a role or an act; "" if asExpr, first, all or use decides
	asExpr *expr

	text, name, call, input, failed *expr
	result                          *result // nil: none
	resultNever                     bool
	more                            bool // a piece of the latest call's input
	diff                            *diff
	child, title                    *expr
	time, id, reply, abandoned      *expr
	glue                            *glue
	layer                           string

	key     *expr     // subagent
	records *selector // reset
	to      *expr     // rewind
	turns   *expr     // rollback

	broken bool // has problems; only while loading
}

// Acts that a rule's as may name beside the seven roles.
const (
	actSkip     = "skip"
	actSubagent = "subagent"
	actReset    = "reset"
	actRewind   = "rewind"
	actRollback = "rollback"
)

// result is a call's outcome on the same element.
type result struct {
	when         *cond
	text, failed *expr
	time         *expr
	diff         *diff
}

// diff is a text, a list of hunks, or two texts.
type diff struct {
	text     *expr
	patch    *selector
	old, new *selector
	whole    bool // old and new are a file before and after, not a place in it
}

// An expr is a ranked list of terms; the first that is not empty counts.
type expr struct {
	terms []*term
	pos   pos
}

// A term is one form of an expression, with the steps that follow.
type term struct {
	kind termKind
	pos  pos

	// perRecord, under conversation, says that the term reads a record; the others are
	// read once. The interpreter works it out.
	perRecord bool

	sels     []*selector // termSelect: the first that is not empty
	value    string      // termValue
	template template    // termTemplate
	concat   []*expr     // termConcat
	lookup   string      // termLookup
	key      *expr

	// Steps, in their order of effect.
	when   *cond
	only   *cond
	item   *expr
	join   *string
	decode []string // "uri", "base64", "hex", "zstd", "gzip"
	parse  bool     // parse: json
	get    *selector
	omit   []string
	gather []string // of the texts, and of what begins a line
	after  *string
	past   *regexp.Regexp
	match  *regexp.Regexp // exactly one group
	hash   string         // "md5" or "sha256"
	unless *pred
	table  map[string]string // map
	orElse *string           // else

	unit, layout, zone string
	last               bool // pick: last
}

type termKind int

const (
	termSelect   termKind = iota // from, or a bare selector
	termValue                    // {value: X}
	termTemplate                 // {template: "…"}
	termConcat                   // {concat: [...]}
	termLookup                   // {lookup: NAME, key: EXPR}
	termWhen                     // {when: COND} alone: true when it holds
)

// A template is literal text and values in turn.
type template []templatePart

type templatePart struct {
	text string    // literal, if sel is nil
	sel  *selector // its value
	src  string    // what stood in the braces
}

// scope names what a selector reads.
type scope int

const (
	scopeNone   scope = iota // the current element
	scopeRecord              // record:
	scopeUp                  // up:
	scopeNext                // next:
	scopeDoc                 // doc:
	scopeSide                // side:
	scopeConv                // conv:
	scopeFile                // file:
	scopeEntry               // entry:key
)

// A selector is a checked gjson path in a scope.
type selector struct {
	src   string
	scope scope
	name  string // side: the sidecar's name; file: the word; conv: the field's name
	field field  // conv:
	index bool   // record:@index and doc:@index
	key   bool   // record:@key
	whole bool   // "." or nothing behind the scope: the thing itself

	// A plain path is a list of keys and array numbers, without any other syntax.
	plain []string
	// Otherwise the path goes to gjson. Segments {key} are put in at run time.
	gjson  string
	braces []brace
	pos    pos
}

// brace is a {key} segment of a selector; at is its place in gjson.
type brace struct {
	from, to int  // byte range of "{key}" in selector.gjson
	query    bool // it is the value of a query, in quotes
	sel      *selector
}

// A cond is a conjunction.
type cond struct {
	tests []condTest
	any   []*cond // one of them must hold; nil = no such demand
	not   *cond
	pos   pos
}

type condTest struct {
	sel  *selector
	pred *pred
}

// A pred is a conjunction of what is said of one value.
type pred struct {
	equal    []string // one of them; nil = no such demand
	exists   *bool
	empty    *bool
	keys     []string
	hasKeys  bool
	kinds    []string
	starts   []string
	contains []string
	matches  []*regexp.Regexp // one of them
	not      *pred
	any      []*pred // only in clean rules
}

// cleaner is the clean-up of one role's texts.
type cleaner struct {
	tags  map[string]string // tag to "drop", a role, "inside", "command" or "args"
	star  string            // value of "*", "" = none
	rules []*cleanRule
}

type cleanRule struct {
	path     string
	pos      pos
	when     *pred
	drop     bool
	as       chat.Role
	after    *string
	replace  []replacement
	unescape bool // unescape: html
}

type replacement struct {
	re   *regexp.Regexp
	with string
}

// sameEntry removes doubles.
type sameEntry struct {
	record bool               // as: record
	roles  map[chat.Role]bool // nil with as: any
	by     string             // "id", "call" or "text"
	last   bool               // keep: last
	prefix bool
	when   *cond // only messages of such records; compared with the latest of their role
	retime bool  // time: last
	pos    pos
}

// tree orders and marks records by their links.
type tree struct {
	id, parent, leaf *expr
	promptForks      bool  // abandon: prompt_forks; else off_path
	except           *cond // records that never begin an abandoned branch, or are never given up beside the path
}

// copied marks history that came from a parent.
type copied struct {
	parent, id *expr
	prefix     *expr
}

// lookup is a named table from another file.
type lookup struct {
	name      string
	container string // "jsonl", "json" or "sqlite"
	path      string // a pattern, or relative to the transcript's folder
	records   *selector
	sql       string
	needs     []tableNeed
	key       *expr
	value     *expr // nil: the whole record
	pos       pos
}

// A test is a sample with the messages it must give.
type test struct {
	name         string
	pos          pos
	source       string
	conversation string
	records      *string
	document     *string
	text         *string
	sql          *string
	path         string
	files        map[string]string
	side         map[string]string

	expect     []expectation
	hasExpect  bool // expect or expect_all was written
	all        bool // expect_all
	expectConv map[string]string
	skipped    map[string]string
	noRule     map[string]string
	warnings   []string
	convPos    pos

	at          string // "tests[0]"
	contentPos  pos
	contentRaw  bool // the sample is a literal block: its lines are lines of the file
	hasWarnings bool // expect_warnings was written
	expectPos   pos
	keyPos      map[string]pos // by key path, of single values that are expected
}

// An expectation is {ROLE: text} with further keys.
type expectation struct {
	role   string
	text   string
	fields map[string]string // time, input, of, failed, running, abandoned, inherited, call, diff
	pos    pos
	path   string // "tests[0].expect[1]"
}
