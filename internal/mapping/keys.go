package mapping

import (
	"fmt"
	"strings"
)

// valueKind says what stands behind a key. It decides which YAML shapes are right; what is
// in them is checked by the function that compiles the key.
type valueKind int

const (
	kindText      valueKind = iota // a scalar
	kindTexts                      // a list of scalars
	kindTextOr                     // a scalar or a list of scalars
	kindBool                       // true or false
	kindSelector                   // a selector
	kindSelectors                  // a selector, or a list of which the first that is not empty counts
	kindExpr                       // an expression that gives text
	kindTruth                      // an expression that is true or not
	kindTime                       // an expression that gives a time
	kindCond                       // a condition
	kindConds                      // a list of conditions
	kindPred                       // a predicate: a value, a list of values, or a map of predicates
	kindRegexp                     // one RE2
	kindRegexps                    // one RE2 or a list
	kindPattern                    // a path pattern
	kindPatterns                   // a list of them
	kindTemplate                   // text with {selector}
	kindSQL                        // one SELECT
	kindMap                        // a map with the keys of Of
	kindMaps                       // a list of such maps
	kindNamed                      // any names, each with a map of Of
	kindNamedList                  // any names, each with a list of maps of Of
	kindTextMap                    // any names, each with a text
	kindTextMaps                   // a list of such maps
	kindListMap                    // any names, each with a list of texts
	kindGlue                       // a text, or false
	kindResult                     // "never", or a map of Of
	kindDiff                       // an expression, {patch: ...} or {edit: ...}
	kindAs                         // a role, an act, or an expression that gives a role
	kindPairs                      // a list of two-element lists
	kindExprs                      // a list of expressions
)

// shapes are YAML shapes, as a set.
type shapes uint8

const (
	shapeScalar shapes = 1 << iota
	shapeList
	shapeMap
)

// kindInfo gives, for each kind, the YAML shapes that are right and its name in messages.
var kindInfo = map[valueKind]struct {
	shapes shapes
	noun   string
}{
	kindText:      {shapeScalar, "a text"},
	kindTexts:     {shapeList, "a list of texts"},
	kindTextOr:    {shapeScalar | shapeList, "a text or a list of texts"},
	kindBool:      {shapeScalar, "true or false"},
	kindSelector:  {shapeScalar, "a selector"},
	kindSelectors: {shapeScalar | shapeList, "a selector or a list of selectors"},
	kindExpr:      {shapeScalar | shapeList | shapeMap, "an expression"},
	kindTruth:     {shapeScalar | shapeList | shapeMap, "an expression"},
	kindTime:      {shapeScalar | shapeList | shapeMap, "an expression"},
	kindCond:      {shapeMap, "a condition (a map)"},
	kindConds:     {shapeList, "a list of conditions"},
	kindPred:      {shapeScalar | shapeList | shapeMap, "a predicate"},
	kindRegexp:    {shapeScalar, "a regular expression (RE2)"},
	kindRegexps:   {shapeScalar | shapeList, "a regular expression (RE2) or a list of them"},
	kindPattern:   {shapeScalar, "a path pattern"},
	kindPatterns:  {shapeList, "a list of path patterns"},
	kindTemplate:  {shapeScalar, "a text with {selector}"},
	kindSQL:       {shapeScalar, "one SELECT statement"},
	kindMap:       {shapeMap, "a map"},
	kindMaps:      {shapeList, "a list of maps"},
	kindNamed:     {shapeMap, "a map of names"},
	kindNamedList: {shapeMap, "a map of names"},
	kindTextMap:   {shapeMap, "a map of texts"},
	kindTextMaps:  {shapeList, "a list of maps"},
	kindListMap:   {shapeMap, "a map of lists"},
	kindGlue:      {shapeScalar, "a text, or false"},
	kindResult:    {shapeScalar | shapeMap, `a map, or "never"`},
	kindDiff:      {shapeScalar | shapeList | shapeMap, "an expression, {patch: SELECTOR} or {edit: [OLD, NEW]}"},
	kindAs:        {shapeScalar | shapeList | shapeMap, "a role, an act, or an expression that gives a role"},
	kindPairs:     {shapeList, "a list of [RE2, text]"},
	kindExprs:     {shapeList, "a list of expressions"},
}

// Names of the maps of the language: what a key's In and Of say.
const (
	inMapping      = "mapping"
	inSource       = "source"
	inPathsFrom    = "paths_from"
	inReplay       = "replay"
	inJoin         = "join"
	inLine         = "line"
	inConversation = "conversation"
	inCommon       = "common"
	inRule         = "rule"
	inResult       = "result"
	inDiff         = "diff"
	inExpr         = "expression"
	inCond         = "condition"
	inPred         = "predicate"
	inCleanRole    = "clean.ROLE"
	inCleanRule    = "clean rule"
	inSame         = "same"
	inTree         = "tree"
	inCopied       = "copied"
	inLookup       = "lookup"
	inTest         = "test"
	inExpectation  = "expectation"
)

// A keyInfo is one key of the mapping language. The loader checks against this table, hints
// and help quote it, and the JSON Schema and the reference page are made of it.
type keyInfo struct {
	In       string // the map in which it stands
	Name     string
	Kind     valueKind
	Of       string   // kindMap and its relatives: the map that is the value, or in it
	Values   []string // the only allowed texts, if not nil
	For      []string // the containers, roles or acts it belongs to; nil = all
	Required bool
	Merges   bool // extends merges the value key by key, instead of replacing it
	Default  string
	About    string
	Example  string
}

var (
	roleWords      = []string{"user", "assistant", "reasoning", "tool_call", "tool_result", "system", "compaction"}
	proseWords     = []string{"user", "assistant", "reasoning", "system"}
	textRoleWords  = []string{"user", "assistant", "reasoning", "system", "compaction"} // what a text may become
	actWords       = []string{actSkip, actSubagent, actReset, actRewind, actRollback}
	kindWords      = []string{"string", "number", "bool", "object", "array", "null", "json_object"}
	tagWords       = []string{"drop", "inside", "command", "args", "call"}
	decodeWords    = []string{"uri", "base64", "hex", "zstd", "gzip"}
	hashWords      = []string{"md5", "sha256"}
	containerWords = []string{"jsonl", "json", "sqlite", "text"}
)

// keyTable is the mapping language, in the order in which it is documented.
var keyTable = []keyInfo{
	{In: inMapping, Name: "parlance", Kind: kindText, Required: true, About: "version of the mapping language; the first key", Example: "parlance: 1"},
	{In: inMapping, Name: "name", Kind: kindText, Required: true, About: "the provider: a-z, 0-9 and _, equal to the file name without .yaml", Example: "name: acme"},
	{In: inMapping, Name: "title", Kind: kindText, About: "the tool's name for people", Example: "title: Acme Coder"},
	{In: inMapping, Name: "about", Kind: kindText, About: "what is worth knowing about the format", Example: "about: one file per chat"},
	{In: inMapping, Name: "not_read", Kind: kindText, About: "what of the tool's conversations cannot be read, why, and which export can", Example: "not_read: \"answers, which are kept on a server; acme export can be read\""},
	{In: inMapping, Name: "links", Kind: kindTexts, About: "where the facts in this file come from", Example: "links: [\"https://example.org/acme\"]"},
	{In: inMapping, Name: "tested", Kind: kindTextMaps, About: "versions that were seen; for people, nothing depends on it", Example: "tested: [{tool: \"2.1\"}]"},
	{In: inMapping, Name: "extends", Kind: kindText, About: "start from another mapping: maps are merged key by key, lists replaced whole", Example: "extends: acme"},
	{In: inMapping, Name: "sources", Kind: kindMaps, Of: inSource, Required: true, About: "where files are, and how they are cut into records", Example: "sources: [{paths: [\"~/.acme/log/*.jsonl\"], container: jsonl}]"},
	{In: inMapping, Name: "unique", Kind: kindText, Values: []string{"first_source", "newest"}, About: "which source wins when two hold the same conversation", Example: "unique: newest"},
	{In: inMapping, Name: "lookups", Kind: kindNamed, Of: inLookup, Merges: true, About: "named tables from other files", Example: "lookups: {titles: {json: \"index.json\", key: id, value: title}}"},
	{In: inMapping, Name: "conversation", Kind: kindMap, Of: inConversation, Merges: true, About: "metadata, read on every record", Example: "conversation: {id: file:stem, cwd: dir}"},
	{In: inMapping, Name: "common", Kind: kindMap, Of: inCommon, Merges: true, About: "what counts for every message; read on the record", Example: "common: {time: at}"},
	{In: inMapping, Name: "layers", Kind: kindListMap, Merges: true, About: "per role, the layers of which only the first that occurs is kept", Example: "layers: {user: [event, item]}"},
	{In: inMapping, Name: "same", Kind: kindMaps, Of: inSame, About: "removes doubles, as the records come", Example: "same: [{as: record, by: id}]"},
	{In: inMapping, Name: "tree", Kind: kindMap, Of: inTree, Merges: true, About: "links between records: order, and branches that were given up", Example: "tree: {id: uuid, parent: parentUuid}"},
	{In: inMapping, Name: "copied", Kind: kindMap, Of: inCopied, About: "marks history that came from a parent", Example: "copied: {parent: forkedFrom.id, id: uuid}"},
	{In: inMapping, Name: "pair", Kind: kindTextOr, Values: []string{"id", "order", "near", "record"}, Default: "id", About: "how results are joined to calls, tried in turn: by id; in order, to the oldest call without a result; near, to the calls of the last record that made any; or record, to those of the same record, if it has one or as many as results", Example: "pair: [id, order]"},
	{In: inMapping, Name: "messages", Kind: kindMaps, Of: inRule, About: "the rules: the first whose when holds is taken", Example: "messages: [{when: {who: me}, as: user, text: say}]"},
	{In: inMapping, Name: "define", Kind: kindNamedList, Of: inRule, Merges: true, About: "named lists of rules, for use and for messages of a source", Example: "define: {block: [{as: user, text: say}]}"},
	{In: inMapping, Name: "clean", Kind: kindNamed, Of: inCleanRole, Merges: true, About: "clean-up of texts, by role", Example: "clean: {user: {tags: {note: drop}}}"},
	{In: inMapping, Name: "tests", Kind: kindMaps, Of: inTest, About: "samples with the messages they must give", Example: "tests: [{name: hi, records: '{\"who\":\"me\",\"say\":\"hi\"}', expect: [{user: hi}]}]"},

	{In: inSource, Name: "id", Kind: kindText, Default: "its number, from 1", About: "name of the source, unique in the file", Example: "id: log"},
	{In: inSource, Name: "paths", Kind: kindPatterns, About: "patterns; a file that fits any of them is taken once", Example: "paths: [\"${ACME_HOME:-~/.acme}/log/*.jsonl\"]"},
	{In: inSource, Name: "exclude", Kind: kindPatterns, About: "patterns of files to leave out, on the whole path", Example: "exclude: [\"**/agent-*.jsonl\"]"},
	{In: inSource, Name: "paths_from", Kind: kindMap, Of: inPathsFrom, About: "a registry file that names places", Example: "paths_from: {file: \"~/.acme/all.json\", each: projects, path: \"{dir}/acme.db\", as: registry}"},
	{In: inSource, Name: "split", Kind: kindTexts, About: "environment variables that may hold several values with commas", Example: "split: [ACME_HOME]"},
	{In: inSource, Name: "one_per", Kind: kindText, Values: []string{"folder"}, For: []string{"json"}, About: "a folder of files is one conversation, however many there are: the first by name is its document", Example: "one_per: folder"},
	{In: inSource, Name: "capture", Kind: kindRegexp, About: "RE2 with named groups on the whole path; the groups become file:NAME", Example: "capture: '/(?P<project>[^/]+)/log/'"},
	{In: inSource, Name: "container", Kind: kindText, Values: containerWords, About: "how the file is cut into records", Example: "container: jsonl"},
	{In: inSource, Name: "decoder", Kind: kindText, About: "instead of container: Go code that makes records of a store", Example: "decoder: acme_store"},
	{In: inSource, Name: "options", Kind: kindTextMap, For: []string{"decoder"}, About: "of the decoder", Example: "options: {index: sessions.json}"},
	{In: inSource, Name: "when", Kind: kindCond, For: []string{"jsonl", "json", "text"}, About: "must hold for the document (json) or one of the first 50 records, else the next source is tried", Example: "when: {type: session}"},
	{In: inSource, Name: "unless", Kind: kindCond, For: []string{"jsonl", "json"}, About: "must hold for the document, or for any of the first 50 records, of no file that is read: tells other formats apart", Example: "unless: {sessionId: {exists: true}}"},
	{In: inSource, Name: "kind", Kind: kindText, Values: []string{"main", "subagent"}, Default: "main", About: "whose conversations these are", Example: "kind: subagent"},
	{In: inSource, Name: "messages", Kind: kindText, About: "name of a list in define, instead of the top-level messages", Example: "messages: block"},
	{In: inSource, Name: "sidecar", Kind: kindTextMap, About: "files beside the file, read as side:NAME", Example: "sidecar: {meta: \"{stem}.meta.json\"}"},
	{In: inSource, Name: "unsupported", Kind: kindText, About: "the reason why these files cannot be read; they are named and never opened", Example: "unsupported: the texts are encrypted"},
	{In: inSource, Name: "conversations", Kind: kindSelectors, For: []string{"json", "jsonl"}, About: "the list of conversations in the document, of several selectors the first that is not empty; in jsonl each line is a document, and \".\" the conversation that it is", Example: "conversations: \".\""},
	{In: inSource, Name: "records", Kind: kindSelectors, Default: "the document", For: []string{"json", "replay", "documents"}, About: "the list of records, or an object whose values they are; of several selectors the first that is not empty", Example: "records: messages"},
	{In: inSource, Name: "children", Kind: kindSelector, For: []string{"json", "documents"}, About: "the list of documents inside of this one, each a conversation of its own that this one started", Example: "children: subagents"},
	{In: inSource, Name: "join", Kind: kindMaps, Of: inJoin, For: []string{"json"}, About: "files beside it; each of the innermost is one record", Example: "join: [{files: \"../part/{stem}/*.json\", as: part}]"},
	{In: inSource, Name: "replay", Kind: kindMap, Of: inReplay, For: []string{"jsonl"}, About: "the lines are edits of one document", Example: "replay: {op: kind, path: k, value: v, init: 0, set: 1}"},
	{In: inSource, Name: "list", Kind: kindSQL, For: []string{"sqlite"}, About: "one row per conversation; it must have id", Example: "list: SELECT * FROM chats"},
	{In: inSource, Name: "sql", Kind: kindSQL, For: []string{"sqlite"}, About: "the records of one conversation; :id is bound", Example: "sql: SELECT * FROM messages WHERE chat = :id ORDER BY n"},
	{In: inSource, Name: "json", Kind: kindTexts, For: []string{"sqlite"}, About: "columns that hold one JSON value", Example: "json: [content]"},
	{In: inSource, Name: "packed", Kind: kindTexts, About: "sqlite: columns whose BLOB may be packed with zstd or gzip; it is unpacked before anything reads it", Example: "packed: [content]"},
	{In: inSource, Name: "broken", Kind: kindText, About: "sqlite: column that says what is wrong with a row; such a row is counted and named, and nothing else is read of it", Example: "broken: problem"},
	{In: inSource, Name: "log", Kind: kindText, About: "sqlite: column that holds a whole log of JSON lines; each of them is a record, in place of the row", Example: "log: archive"},
	{In: inSource, Name: "needs", Kind: kindListMap, For: []string{"sqlite"}, About: "tables and columns that must be there, else the next source is tried", Example: "needs: {chats: [id, title]}"},
	{In: inSource, Name: "instead", Kind: kindText, For: []string{"sqlite"}, About: "id of an earlier source; this one reads only the databases that the earlier one does not accept", Example: "instead: database"},
	{In: inSource, Name: "conversation_start", Kind: kindRegexp, For: []string{"text"}, About: "begins a conversation; its named groups are doc:NAME", Example: "conversation_start: '^# chat at (?P<at>.*)$'"},
	{In: inSource, Name: "lines", Kind: kindMaps, Of: inLine, For: []string{"text"}, About: "kinds of lines; the first that matches names it", Example: "lines: [{kind: user, match: '^> (?P<text>.*)$'}]"},

	{In: inPathsFrom, Name: "file", Kind: kindPattern, Required: true, About: "pattern of the registry", Example: "file: \"~/.acme/all.json\""},
	{In: inPathsFrom, Name: "each", Kind: kindSelector, Required: true, About: "the list of places in it", Example: "each: projects"},
	{In: inPathsFrom, Name: "path", Kind: kindTemplate, Required: true, About: "pattern with values of the element in braces", Example: "path: \"{dir}/acme.db\""},
	{In: inPathsFrom, Name: "as", Kind: kindText, Required: true, About: "the element is then side:NAME", Example: "as: registry"},

	{In: inReplay, Name: "op", Kind: kindSelector, Required: true, About: "what the line does", Example: "op: kind"},
	{In: inReplay, Name: "path", Kind: kindSelector, Required: true, About: "list of the keys and numbers that lead to the place", Example: "path: k"},
	{In: inReplay, Name: "value", Kind: kindSelector, Required: true, About: "the new value", Example: "value: v"},
	{In: inReplay, Name: "at", Kind: kindSelector, About: "append: the length to which the array is cut before", Example: "at: i"},
	{In: inReplay, Name: "init", Kind: kindText, Required: true, About: "value of op that replaces the document", Example: "init: 0"},
	{In: inReplay, Name: "set", Kind: kindText, About: "value of op that sets the place; parents are made", Example: "set: 1"},
	{In: inReplay, Name: "append", Kind: kindText, About: "value of op that adds a list to the array at the place", Example: "append: 2"},
	{In: inReplay, Name: "delete", Kind: kindText, About: "value of op that removes the place", Example: "delete: 3"},

	{In: inJoin, Name: "files", Kind: kindPattern, Required: true, About: "pattern relative to the folder of the file one level up; {stem} and its values in braces", Example: "files: \"../part/{stem}/*.json\""},
	{In: inJoin, Name: "as", Kind: kindText, Required: true, About: "key of the record under which the file stands", Example: "as: part"},
	{In: inJoin, Name: "order", Kind: kindSelector, About: "value in each file that says where it stands; numbers by size, texts by bytes", Example: "order: at"},
	{In: inJoin, Name: "self", Kind: kindBool, Default: "false", About: "a file with children gives a record of its own, without their key, behind theirs", Example: "self: true"},
	{In: inJoin, Name: "join", Kind: kindMaps, Of: inJoin, About: "one level further", Example: "join: [{files: \"{id}/*.json\", as: piece}]"},

	{In: inLine, Name: "kind", Kind: kindText, Required: true, About: "kind of the line; neighbours of one kind are one record", Example: "kind: user"},
	{In: inLine, Name: "match", Kind: kindRegexp, Required: true, About: "RE2; the group text is the line's text, others are keys of the record", Example: "match: '^> (?P<text>.*)$'"},
	{In: inLine, Name: "then", Kind: kindRegexp, About: "lines that belong to the record which this entry opened; its match always opens a new one", Example: "then: '^  (?P<text>.*)$'"},

	{In: inConversation, Name: "id", Kind: kindExpr, Default: "file:stem", About: "the provider's own id of the conversation", Example: "id: file:stem"},
	{In: inConversation, Name: "title", Kind: kindExpr, About: "title, if one is stored", Example: "title: {from: name, pick: last}"},
	{In: inConversation, Name: "cwd", Kind: kindExpr, About: "working directory", Example: "cwd: dir"},
	{In: inConversation, Name: "branch", Kind: kindExpr, About: "git branch", Example: "branch: gitBranch"},
	{In: inConversation, Name: "version", Kind: kindExpr, About: "version of the tool that wrote it", Example: "version: v"},
	{In: inConversation, Name: "model", Kind: kindExpr, About: "model that answered", Example: "model: {from: model, pick: last}"},
	{In: inConversation, Name: "parent", Kind: kindExpr, Default: "what copied finds", About: "id of the conversation it came from", Example: "parent: forkedFrom"},
	{In: inConversation, Name: "subagent", Kind: kindTruth, Default: "kind of the source", About: "started by a tool call, not by a person", Example: "subagent: {when: {type: child}}"},
	{In: inConversation, Name: "started", Kind: kindTime, Default: "time of the first message", About: "when it began", Example: "started: createdAt"},
	{In: inConversation, Name: "updated", Kind: kindTime, Default: "latest time of a message, else of the file", About: "when it was changed last", Example: "updated: updatedAt"},

	{In: inCommon, Name: "time", Kind: kindTime, About: "when it was said", Example: "time: timestamp"},
	{In: inCommon, Name: "id", Kind: kindExpr, About: "id of the message", Example: "id: uuid"},
	{In: inCommon, Name: "reply", Kind: kindExpr, About: "groups the pieces of one answer", Example: "reply: message.id"},
	{In: inCommon, Name: "abandoned", Kind: kindTruth, About: "on a branch that was given up", Example: "abandoned: undone"},
	{In: inCommon, Name: "glue", Kind: kindGlue, Default: "a blank line", About: "joins neighbouring pieces of one role out of one record; false keeps them apart", Example: "glue: false"},

	{In: inRule, Name: "when", Kind: kindCond, About: "condition; without it the rule always holds", Example: "when: {type: user}"},
	{In: inRule, Name: "in", Kind: kindSelectors, About: "step into an object", Example: "in: payload"},
	{In: inRule, Name: "each", Kind: kindSelectors, About: "once per element of a list; a bare string counts as {type: text, text: ...}", Example: "each: message.content"},
	{In: inRule, Name: "as", Kind: kindAs, About: "what to make: a role, or an act", Example: "as: user"},
	{In: inRule, Name: "first", Kind: kindMaps, Of: inRule, About: "the first of these rules that holds", Example: "first: [{when: {type: text}, as: user, text: text}]"},
	{In: inRule, Name: "all", Kind: kindMaps, Of: inRule, About: "every one of these rules that holds", Example: "all: [{as: reasoning, text: thought}, {as: assistant, text: say}]"},
	{In: inRule, Name: "use", Kind: kindText, About: "a list of define, tried like first", Example: "use: block"},
	{In: inRule, Name: "why", Kind: kindText, About: "the reason, for explain", Example: "why: copy of a call's result"},
	{In: inRule, Name: "text", Kind: kindExpr, For: []string{"user", "assistant", "reasoning", "tool_result", "system", "compaction"}, About: "what is said", Example: "text: message.content"},
	{In: inRule, Name: "name", Kind: kindExpr, For: []string{"tool_call", "tool_result", "compaction"}, About: "the tool, as stored; on a compaction, a label", Example: "name: tool"},
	{In: inRule, Name: "call", Kind: kindExpr, For: []string{"tool_call", "tool_result"}, About: "id that joins a call and its result", Example: "call: tool_use_id"},
	{In: inRule, Name: "input", Kind: kindExpr, For: []string{"tool_call"}, About: "the arguments", Example: "input: arguments"},
	{In: inRule, Name: "more", Kind: kindBool, Default: "false", For: []string{"user", "assistant", "reasoning", "system", "tool_call"}, About: "a piece: a call's input goes on the end of the latest call's; a text on the end of the message directly before, if that is of such pieces too, of the same role and reply; else it begins one", Example: "more: true"},
	{In: inRule, Name: "failed", Kind: kindTruth, For: []string{"tool_result"}, About: "whether the tool failed", Example: "failed: is_error"},
	{In: inRule, Name: "result", Kind: kindResult, Of: inResult, For: []string{"tool_call"}, About: "the call's outcome on the same element, or never", Example: "result: {text: output, failed: exitCode}"},
	{In: inRule, Name: "diff", Kind: kindDiff, Of: inDiff, For: []string{"tool_call", "tool_result"}, About: "the change that a tool made", Example: "diff: details.diff"},
	{In: inRule, Name: "child", Kind: kindExpr, For: []string{"tool_call", "tool_result"}, About: "id of the conversation that the call started", Example: "child: agentId"},
	{In: inRule, Name: "title", Kind: kindExpr, For: []string{"tool_call", "tool_result"}, About: "what the tool says of the call in a line; shown where its input tells nothing", Example: "title: state.title"},
	{In: inRule, Name: "time", Kind: kindTime, Default: "common.time", For: roleWords, About: "when it was said", Example: "time: timestamp"},
	{In: inRule, Name: "id", Kind: kindExpr, Default: "common.id", For: roleWords, About: "id of the message", Example: "id: id"},
	{In: inRule, Name: "reply", Kind: kindExpr, Default: "common.reply", For: roleWords, About: "groups the pieces of one answer", Example: "reply: message.id"},
	{In: inRule, Name: "abandoned", Kind: kindTruth, Default: "common.abandoned", For: roleWords, About: "on a branch that was given up", Example: "abandoned: undone"},
	{In: inRule, Name: "glue", Kind: kindGlue, Default: "common.glue", For: proseWords, About: "joins neighbouring pieces of the same role out of one record; false keeps them apart", Example: "glue: \"\\n\""},
	{In: inRule, Name: "layer", Kind: kindText, For: roleWords, About: "the layer this message belongs to", Example: "layer: event"},
	{In: inRule, Name: "key", Kind: kindExpr, Default: "id of the root of its tree", For: []string{"subagent"}, About: "the record belongs to the conversation <id>/<key>", Example: "key: agentId"},
	{In: inRule, Name: "records", Kind: kindSelector, For: []string{"reset"}, About: "the list of new records", Example: "records: $set.messages"},
	{In: inRule, Name: "to", Kind: kindExpr, For: []string{"rewind"}, About: "id of the first message that is given up", Example: "to: rewindTo"},
	{In: inRule, Name: "turns", Kind: kindExpr, For: []string{"rollback"}, About: "how many prompts are given up", Example: "turns: payload.num_turns"},

	{In: inResult, Name: "when", Kind: kindCond, Default: "text finds something", About: "there is an outcome", Example: "when: {status: done}"},
	{In: inResult, Name: "text", Kind: kindExpr, About: "what came out", Example: "text: output"},
	{In: inResult, Name: "failed", Kind: kindTruth, About: "whether the tool failed", Example: "failed: exitCode"},
	{In: inResult, Name: "time", Kind: kindTime, Default: "time of the call", About: "when it came", Example: "time: endedAt"},
	{In: inResult, Name: "diff", Kind: kindDiff, Of: inDiff, About: "the change that the tool made", Example: "diff: patch"},

	{In: inDiff, Name: "patch", Kind: kindSelector, About: "list of hunks with oldStart, newStart, lines", Example: "patch: structuredPatch"},
	{In: inDiff, Name: "whole", Kind: kindTexts, About: "selectors of a file's text before and after: equal lines at both ends are left out", Example: "whole: [before, after]"},
	{In: inDiff, Name: "edit", Kind: kindTexts, About: "selectors of the old and the new text", Example: "edit: [old_string, new_string]"},

	{In: inExpr, Name: "from", Kind: kindExpr, About: "a value: selector, or a list of which the first that is not empty counts", Example: "{from: content, join: \"\\n\"}"},
	{In: inExpr, Name: "value", Kind: kindText, About: "a constant", Example: "{value: bash}"},
	{In: inExpr, Name: "template", Kind: kindTemplate, About: "text with values; empty if one of them is", Example: "{template: \"{a}/{b}\"}"},
	{In: inExpr, Name: "concat", Kind: kindExprs, About: "those that are not empty, joined", Example: "{concat: [a, b], join: \"\\n\"}"},
	{In: inExpr, Name: "lookup", Kind: kindText, About: "a value from a table of lookups", Example: "{lookup: titles, key: id}"},
	{In: inExpr, Name: "key", Kind: kindExpr, About: "which entry of the lookup", Example: "{lookup: titles, key: id}"},
	{In: inExpr, Name: "when", Kind: kindCond, About: "condition on the current element; if it fails, the value is empty", Example: "{from: id, when: {type: session}}"},
	{In: inExpr, Name: "only", Kind: kindCond, About: "condition on each list item; the others go", Example: "{from: content, only: {type: text}}"},
	{In: inExpr, Name: "item", Kind: kindExpr, About: "expression read on each list item", Example: "{from: content, item: data.text}"},
	{In: inExpr, Name: "join", Kind: kindText, Default: "a blank line", About: "what stands between items when a list becomes text", Example: "{from: content, join: \"\\n\"}"},
	{In: inExpr, Name: "decode", Kind: kindTextOr, Values: decodeWords, About: "text of an encoded text; what does not decode is empty", Example: "{from: folder, decode: uri}"},
	{In: inExpr, Name: "parse", Kind: kindText, Values: []string{"json"}, About: "the value of a text that is one JSON object or array; else empty", Example: "{from: output, parse: json, get: metadata.exit}"},
	{In: inExpr, Name: "get", Kind: kindSelector, About: "selector into an object or array", Example: "{from: output, parse: json, get: text}"},
	{In: inExpr, Name: "omit", Kind: kindTexts, About: "an object without these members", Example: "{from: step, omit: [output]}"},
	{In: inExpr, Name: "gather", Kind: kindTexts, About: "of an object or a list, the texts under this name, however deep, put together; a second name is true where a text begins a new line", Example: "{from: out, gather: [text, lineBreakBefore]}"},
	{In: inExpr, Name: "after", Kind: kindText, About: "what stands behind the last occurrence of this text", Example: "{from: text, after: \"Result:\"}"},
	{In: inExpr, Name: "past", Kind: kindRegexp, About: "what stands behind the first match of this RE2, trimmed, however long it is; no match: empty", Example: "{from: text, past: '^\\[\\w+\\] Result:'}"},
	{In: inExpr, Name: "match", Kind: kindRegexp, About: "RE2 with exactly one group: the group of the first match", Example: "{from: file:path, match: '/([^/]+)/log/'}"},
	{In: inExpr, Name: "hash", Kind: kindText, Values: hashWords, About: "the text's hash in hexadecimal digits, as names of folders have it", Example: "{from: path, hash: md5}"},
	{In: inExpr, Name: "unless", Kind: kindPred, About: "predicate on the value; if it holds, the value is empty", Example: "{from: model, unless: \"<none>\"}"},
	{In: inExpr, Name: "map", Kind: kindTextMap, About: "table of texts; what is not in it gives else", Example: "{from: who, map: {me: user, bot: assistant}}"},
	{In: inExpr, Name: "else", Kind: kindText, Default: "empty", About: "what a value that is not in map gives", Example: "{from: who, map: {me: user}, else: assistant}"},
	{In: inExpr, Name: "unit", Kind: kindText, Values: []string{"s", "ms", "us", "ns"}, About: "unit of a number that is a time", Example: "{from: at, unit: ms}"},
	{In: inExpr, Name: "layout", Kind: kindText, About: "Go layout of a text that is a time", Example: "{from: at, layout: \"02.01.2006 15:04\"}"},
	{In: inExpr, Name: "zone", Kind: kindText, Values: []string{"local", "utc"}, Default: "utc", About: "zone of a time that names none", Example: "{from: at, zone: local}"},
	{In: inExpr, Name: "pick", Kind: kindText, Values: []string{"first", "last"}, Default: "first", About: "which record counts; only under conversation", Example: "{from: title, pick: last}"},

	{In: inCond, Name: "any", Kind: kindConds, About: "conditions of which one must hold", Example: "any: [{a: 1}, {b: 2}]"},
	{In: inCond, Name: "not", Kind: kindCond, About: "a condition that must not hold", Example: "not: {isMeta: true}"},

	{In: inPred, Name: "exists", Kind: kindBool, About: "present and not null, or the opposite", Example: "{exists: true}"},
	{In: inPred, Name: "empty", Kind: kindBool, About: "absent, \"\", only white space, [] or {}, or the opposite", Example: "{empty: false}"},
	{In: inPred, Name: "keys", Kind: kindTexts, About: "an object with exactly these keys", Example: "{keys: [result]}"},
	{In: inPred, Name: "kind", Kind: kindTextOr, Values: kindWords, About: "the JSON kind", Example: "{kind: string}"},
	{In: inPred, Name: "starts", Kind: kindTextOr, About: "how the text begins, white space aside", Example: "{starts: \"<note>\"}"},
	{In: inPred, Name: "contains", Kind: kindTextOr, About: "what stands in the text", Example: "{contains: \"[x]\"}"},
	{In: inPred, Name: "matches", Kind: kindRegexps, About: "RE2, anywhere in the text", Example: "{matches: '^\\['}"},
	{In: inPred, Name: "not", Kind: kindPred, About: "the predicate does not hold", Example: "{not: user}"},

	{In: inCleanRole, Name: "tags", Kind: kindTextMap, Merges: true, About: "what happens with blocks <name>...</name>: drop, a role, inside, command, args or call", Example: "tags: {note: drop}"},
	{In: inCleanRole, Name: "rules", Kind: kindMaps, Of: inCleanRule, About: "the first whose when holds is applied", Example: "rules: [{when: {starts: \"Note:\"}, as: system}]"},

	{In: inCleanRule, Name: "when", Kind: kindPred, About: "what must hold of the text", Example: "when: {starts: \"Note:\"}"},
	{In: inCleanRule, Name: "drop", Kind: kindBool, About: "no message", Example: "drop: true"},
	{In: inCleanRule, Name: "as", Kind: kindText, Values: textRoleWords, About: "another role", Example: "as: system"},
	{In: inCleanRule, Name: "after", Kind: kindText, About: "what follows the last occurrence of this text", Example: "after: \"Request:\""},
	{In: inCleanRule, Name: "replace", Kind: kindPairs, About: "RE2 and text, each on all matches; $1 for groups", Example: "replace: [['\\s+$', '']]"},
	{In: inCleanRule, Name: "unescape", Kind: kindText, Values: []string{"html"}, About: "resolves character references", Example: "unescape: html"},

	{In: inSame, Name: "as", Kind: kindTextOr, Required: true, Values: append([]string{"record", "any"}, roleWords...), About: "what is compared: record, any, or roles", Example: "as: record"},
	{In: inSame, Name: "by", Kind: kindText, Required: true, Values: []string{"id", "call", "text"}, About: "by what it is compared", Example: "by: id"},
	{In: inSame, Name: "keep", Kind: kindText, Values: []string{"first", "last"}, Default: "first", About: "which of the two stays", Example: "keep: last"},
	{In: inSame, Name: "time", Kind: kindText, Values: []string{"first", "last"}, Default: "first", About: "by: text, keep: last: whose time the one that stays has", Example: "time: last"},
	{In: inSame, Name: "when", Kind: kindCond, About: "by: text: only messages of records for which this holds may be doubles, of the latest message of their role before them, wherever that stands", Example: "when: {kind: copy}"},
	{In: inSame, Name: "prefix", Kind: kindBool, Default: "false", About: "by: text: a later text that begins with the earlier one is a double too; by: id or call: no other is one", Example: "prefix: true"},

	{In: inTree, Name: "id", Kind: kindExpr, Required: true, About: "the record's id", Example: "id: uuid"},
	{In: inTree, Name: "parent", Kind: kindExpr, Required: true, About: "id of the record before it", Example: "parent: parentUuid"},
	{In: inTree, Name: "leaf", Kind: kindExpr, Default: "the last record with an id", About: "id of the record at which the conversation ends", Example: "leaf: doc:current"},
	{In: inTree, Name: "except", Kind: kindCond, About: "prompt_forks: a record for which this holds never begins an abandoned branch; off_path: it is not given up by itself", Example: "except: {kind: local}"},
	{In: inTree, Name: "abandon", Kind: kindText, Values: []string{"off_path", "prompt_forks"}, Default: "off_path", About: "what counts as given up", Example: "abandon: prompt_forks"},

	{In: inCopied, Name: "parent", Kind: kindExpr, About: "id of the conversation this record was copied from", Example: "parent: forkedFrom.id"},
	{In: inCopied, Name: "id", Kind: kindExpr, About: "the record's id over there", Example: "id: uuid"},
	{In: inCopied, Name: "prefix", Kind: kindExpr, About: "a key per record; what stands before the first key that the parent lacks is copied", Example: "prefix: turn"},

	{In: inLookup, Name: "jsonl", Kind: kindPattern, About: "pattern of a JSONL file", Example: "jsonl: \"~/.acme/index.jsonl\""},
	{In: inLookup, Name: "json", Kind: kindPattern, About: "pattern of a JSON file", Example: "json: \"~/.acme/index.json\""},
	{In: inLookup, Name: "sqlite", Kind: kindPattern, About: "pattern of a database", Example: "sqlite: \"~/.acme/index.db\""},
	{In: inLookup, Name: "records", Kind: kindSelector, Default: "the document", For: []string{"json"}, About: "the array or object whose members are the records", Example: "records: tasks"},
	{In: inLookup, Name: "sql", Kind: kindSQL, For: []string{"sqlite"}, About: "the rows", Example: "sql: SELECT id, title FROM chats"},
	{In: inLookup, Name: "needs", Kind: kindListMap, About: "sqlite: tables and columns that must be there, else the table is empty", Example: "needs: {chats: [id, title]}"},
	{In: inLookup, Name: "key", Kind: kindExpr, Required: true, About: "key of a record", Example: "key: id"},
	{In: inLookup, Name: "value", Kind: kindExpr, Default: "the whole record", About: "what the table gives", Example: "value: title"},

	{In: inTest, Name: "name", Kind: kindText, Required: true, About: "what the test shows", Example: "name: a question"},
	{In: inTest, Name: "source", Kind: kindText, Default: "the first", About: "id of the source", Example: "source: log"},
	{In: inTest, Name: "conversation", Kind: kindText, About: "id of the one that is compared, if there are several", Example: "conversation: c1"},
	{In: inTest, Name: "records", Kind: kindText, About: "records as JSONL, for any container", Example: "records: '{\"who\":\"me\"}'"},
	{In: inTest, Name: "document", Kind: kindText, For: []string{"json"}, About: "one JSON value", Example: "document: '[]'"},
	{In: inTest, Name: "text", Kind: kindText, For: []string{"text", "jsonl"}, About: "a text file", Example: "text: \"> hi\""},
	{In: inTest, Name: "sql", Kind: kindText, For: []string{"sqlite"}, About: "statements that make the database", Example: "sql: CREATE TABLE t (id)"},
	{In: inTest, Name: "path", Kind: kindText, Default: "/test/test", About: "the file's path", Example: "path: /test/log/a.jsonl"},
	{In: inTest, Name: "files", Kind: kindTextMap, About: "path and content of files for join and lookups", Example: "files: {index.json: '{}'}"},
	{In: inTest, Name: "side", Kind: kindTextMap, About: "name and content of sidecars", Example: "side: {meta: '{}'}"},
	{In: inTest, Name: "expect", Kind: kindMaps, Of: inExpectation, About: "the visible messages, in order, complete", Example: "expect: [{user: hi}]"},
	{In: inTest, Name: "expect_all", Kind: kindMaps, Of: inExpectation, About: "all messages, the abandoned ones too", Example: "expect_all: [{user: hi, abandoned: true}]"},
	{In: inTest, Name: "expect_conversation", Kind: kindTextMap, About: "keys of the conversation", Example: "expect_conversation: {title: Hi}"},
	{In: inTest, Name: "expect_skipped", Kind: kindTextMap, About: "counts of skipped records, by type", Example: "expect_skipped: {ping: 2}"},
	{In: inTest, Name: "expect_no_rule", Kind: kindTextMap, About: "counts of records without a rule, by type", Example: "expect_no_rule: {new: 1}"},
	{In: inTest, Name: "expect_warnings", Kind: kindTexts, About: "parts of the warnings, and of what is said of broken records", Example: "expect_warnings: [orphan]"},

	{In: inExpectation, Name: "user", Kind: kindText, About: "a user message with this text", Example: "{user: hi}"},
	{In: inExpectation, Name: "assistant", Kind: kindText, About: "an assistant message with this text", Example: "{assistant: hello}"},
	{In: inExpectation, Name: "reasoning", Kind: kindText, About: "a reasoning message with this text", Example: "{reasoning: hm}"},
	{In: inExpectation, Name: "tool_call", Kind: kindText, About: "a call of this tool", Example: "{tool_call: grep}"},
	{In: inExpectation, Name: "tool_result", Kind: kindText, About: "a result with this text", Example: "{tool_result: a.go}"},
	{In: inExpectation, Name: "system", Kind: kindText, About: "a system message with this text", Example: "{system: note}"},
	{In: inExpectation, Name: "compaction", Kind: kindText, About: "a compaction with this text", Example: "{compaction: so far}"},
	{In: inExpectation, Name: "time", Kind: kindText, About: "RFC3339 with milliseconds, UTC", Example: "{user: hi, time: \"2026-01-02T03:04:05.000Z\"}"},
	{In: inExpectation, Name: "input", Kind: kindText, For: []string{"tool_call"}, About: "arguments of a call", Example: "{tool_call: grep, input: '{\"p\":\"x\"}'}"},
	{In: inExpectation, Name: "of", Kind: kindText, For: []string{"tool_result"}, About: "tool of a result", Example: "{tool_result: a.go, of: grep}"},
	{In: inExpectation, Name: "failed", Kind: kindBool, For: []string{"tool_result"}, About: "of a result", Example: "{tool_result: no, failed: true}"},
	{In: inExpectation, Name: "running", Kind: kindBool, For: []string{"tool_call"}, About: "of a call", Example: "{tool_call: grep, running: true}"},
	{In: inExpectation, Name: "abandoned", Kind: kindBool, About: "on a branch that was given up", Example: "{user: hi, abandoned: true}"},
	{In: inExpectation, Name: "inherited", Kind: kindBool, About: "copied from a parent", Example: "{user: hi, inherited: true}"},
	{In: inExpectation, Name: "call", Kind: kindText, For: []string{"tool_call", "tool_result"}, About: "call id", Example: "{tool_call: grep, call: c1}"},
	{In: inExpectation, Name: "diff", Kind: kindText, For: []string{"tool_call", "tool_result"}, About: "the change", Example: "{tool_result: ok, diff: \"-a\\n+b\"}"},
	{In: inExpectation, Name: "child", Kind: kindText, For: []string{"tool_call", "tool_result"}, About: "the conversation that was started", Example: "{tool_call: task, child: a1}"},
	{In: inExpectation, Name: "title", Kind: kindText, For: []string{"tool_call", "tool_result"}, About: "what the tool says of the call", Example: "{tool_call: todo, title: 3 todos}"},
}

// keyIndex finds a key by map and name; keyNames lists the keys of a map in order.
var keyIndex, keyNames = indexKeys(keyTable)

func indexKeys(table []keyInfo) (map[string]map[string]*keyInfo, map[string][]string) {
	index := make(map[string]map[string]*keyInfo)
	names := make(map[string][]string)
	for i := range table {
		k := &table[i]
		if index[k.In] == nil {
			index[k.In] = make(map[string]*keyInfo)
		}
		index[k.In][k.Name] = k
		names[k.In] = append(names[k.In], k.Name)
	}
	return index, names
}

// stepNames are the steps of an expression in their order of effect: what the table lists
// behind the forms.
var stepNames = keyNames[inExpr]

// valueNames join the allowed values of a key for a hint.
func valueNames(values []string) string {
	if len(values) == 1 {
		return "the only value is " + values[0]
	}
	return "values are " + strings.Join(values, ", ")
}

// addHint says what to add for a missing key.
func addHint(in, key string) string {
	return fmt.Sprintf("add %s: (%s)", key, keyIndex[in][key].About)
}
