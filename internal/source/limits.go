package source

import (
	"fmt"
	"time"
)

// What reading may cost, whoever wrote the file or the mapping. This is the one place of these
// limits: other packages take theirs from here, under the names that Limits gives them. Who
// reaches one is told by a message with that name.
const (
	LineMaxBytes         = 256 << 20
	DocumentMaxBytes     = 256 << 20
	RecordsMax           = 5_000_000
	MessageMaxBytes      = 64 << 20
	UnpackMemoryMaxBytes = 128 << 20
	DecodedMaxBytes      = 64 << 20

	SQLRowsMax        = 10_000_000
	SQLTimeMax        = 60 * time.Second
	SQLMemoryMaxBytes = 2*DocumentMaxBytes + 64<<20

	ReplayMaxBytes   = 256 << 20
	NodesMax         = 5_000_000
	JoinFilesMax     = 1_000_000
	ChildrenMaxDepth = 16

	YAMLMaxBytes     = 1 << 20
	YAMLMaxDepth     = 64
	ExtendsMaxDepth  = 8
	RulesMaxDepth    = 16
	RegexpMaxBytes   = 64 << 10
	PatternMaxBytes  = 64 << 10
	SelectorMaxBytes = 4096
	QueryMaxDepth    = 8
	TestTimeMax      = 30 * time.Second

	PathPatternMaxBytes = 4096
	NestMax             = 8
	PlacesMax           = 100_000
	RegistryMaxBytes    = 16 << 20
	RegistryMax         = 100_000
	ConfigMaxBytes      = 1 << 20
	FoundMax            = 1_000_000
	FoldersMax          = 1_000_000
	FoldersMaxDepth     = 64

	// These stand in mcpserver and render as well, which may not import us; a test compares.
	RequestMaxBytes  = 64 << 20
	PendingMax       = 4096
	PendingMaxBytes  = 256 << 20
	ArgumentMaxBytes = 4096
	TokensMax        = 100_000_000
	SessionIdleMax   = time.Hour
)

// A Limit is a row of the table of limits.
type Limit struct {
	Name   string // as messages call it
	Most   string // for people: "256 MB"
	Reason string
}

// Limits is the table of all limits, as SECURITY.md shows it.
func Limits() []Limit {
	bytes := func(n int) string {
		switch {
		case n%(1<<20) == 0:
			return fmt.Sprintf("%d MB", n>>20)
		case n%(1<<10) == 0:
			return fmt.Sprintf("%d kB", n>>10)
		}
		return fmt.Sprintf("%d bytes", n)
	}
	number := func(n int) string {
		switch {
		case n >= 1_000_000:
			return fmt.Sprintf("%d million", n/1_000_000)
		case n >= 1000:
			return fmt.Sprintf("%d,%03d", n/1000, n%1000)
		}
		return fmt.Sprint(n)
	}
	return []Limit{
		{"lineMaxBytes", bytes(LineMaxBytes), "a line of a log; images make lines of tens of MB"},
		{"documentMaxBytes", bytes(DocumentMaxBytes), "a JSON document, which has to be held in memory"},
		{"recordsMax", number(RecordsMax), "records of one conversation; ends files that grow without end"},
		{"textMaxBytes", bytes(MessageMaxBytes), "the text of one message: more than anybody reads, less than memory"},
		{"unpackMemoryMaxBytes", bytes(UnpackMemoryMaxBytes), "the window a .zst file may ask for; zstd itself asks for no more"},
		{"decodedMaxBytes", bytes(DecodedMaxBytes), "what a packed text inside of a record may unfold to"},
		{"sqlRowsMax", number(SQLRowsMax), "rows of one statement"},
		{"sqlTimeMax", SQLTimeMax.String(), "from one row to the next: ends statements that loop"},
		{"sqlMemoryMaxBytes", bytes(SQLMemoryMaxBytes), "memory of SQLite for one database: the largest value twice, and room to work"},
		{"replayMaxBytes", bytes(ReplayMaxBytes), "a log of edits, which has to be held in memory"},
		{"nodesMax", number(NodesMax), "empty places that a log of edits may ask for: a few lines could fill memory"},
		{"joinFilesMax", number(JoinFilesMax), "parts of one conversation that stand in files of their own"},
		{"childrenMaxDepth", number(ChildrenMaxDepth), "conversations inside of conversations in one document"},
		{"yamlMaxBytes", bytes(YAMLMaxBytes), "a mapping file: it is code, not data; the longest has 40 kB"},
		{"yamlMaxDepth", number(YAMLMaxDepth), "maps and lists inside each other in a mapping file"},
		{"extendsMaxDepth", number(ExtendsMaxDepth), "mappings that extend each other"},
		{"rulesMaxDepth", number(RulesMaxDepth), "rules inside of rules, by first, all and use together"},
		{"regexpMaxBytes", bytes(RegexpMaxBytes), "a regular expression of a mapping (RE2: its time is linear)"},
		{"patternMaxBytes", bytes(PatternMaxBytes), "how much of a text a regular expression looks at"},
		{"selectorMaxBytes", bytes(SelectorMaxBytes), "a selector of a mapping"},
		{"queryMaxDepth", number(QueryMaxDepth), "queries inside of queries in a selector"},
		{"testTimeMax", TestTimeMax.String(), "all tests of one mapping: they hold a few records each"},
		{"pathPatternMaxBytes", bytes(PathPatternMaxBytes), "a path pattern of a mapping"},
		{"nestMax", number(NestMax), "named roots and defaults inside each other in a path pattern"},
		{"placesMax", number(PlacesMax), "places that one path pattern may become: braces multiply"},
		{"registryMaxBytes", bytes(RegistryMaxBytes), "a tool's list of the folders it worked in"},
		{"registryMax", number(RegistryMax), "folders of such a list: each costs a look at the disk"},
		{"foundMax", number(FoundMax), "files that a mapping's patterns fit; ends one that catches a whole disk"},
		{"foldersMax", number(FoldersMax), "folders that are looked into for a mapping's patterns"},
		{"foldersMaxDepth", number(FoldersMaxDepth), "folders that one ** goes down"},
		{"requestMaxBytes", bytes(RequestMaxBytes), "a message to the MCP server; ours are short, but a host may echo what it likes"},
		{"pendingMax", number(PendingMax), "requests to the MCP server that wait for their answers"},
		{"pendingMaxBytes", bytes(PendingMaxBytes), "the same, all together"},
		{"argumentMaxBytes", bytes(ArgumentMaxBytes), "what an agent looks for: more is a mistake, and would be looked for in gigabytes"},
		{"tokensMax", number(TokensMax), "the budget of an answer, which is 20,000 tokens if nobody says otherwise"},
		{"sessionIdleMax", SessionIdleMax.String(), "how long a silent client over HTTP is remembered"},
		{"configMaxBytes", bytes(ConfigMaxBytes), "config.yaml: it holds two short lists"},
	}
}

// Limits that nobody reaches from outside.
const (
	// sqlOpensMax is how many snapshots of a database are tried because its tool writes.
	sqlOpensMax = 3
	// sqlCachedMax is how many compiled statements a DB keeps. A mapping has two or three.
	sqlCachedMax = 8
	// pieceBytes is how much is read from a file at once: it stays in the cache of one core.
	// With 1 MiB a scan is no faster.
	pieceBytes = 256 << 10
)

const (
	lineMaxBytes         = LineMaxBytes
	documentMaxBytes     = DocumentMaxBytes
	unpackMemoryMaxBytes = UnpackMemoryMaxBytes
	sqlRowsMax           = SQLRowsMax
	sqlTimeMax           = SQLTimeMax
	sqlMemoryMaxBytes    = SQLMemoryMaxBytes
)
