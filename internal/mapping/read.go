package mapping

import (
	"context"

	"parlance/internal/chat"
)

// ReadOptions says what a reader wants of a file, so that nothing else is decoded or kept.
// The zero value wants everything of every conversation.
type ReadOptions struct {
	// Row, if set, is the inner id of the one conversation that is wanted out of a
	// database or a document that holds several. "" = all of them.
	Row string
	// SkipToolText leaves the text of tool results undecoded (Elided), except where the
	// record's bytes hold a checkpoint line.
	SkipToolText bool
	// Keep, if set, is asked about every message whose text is settled; false drops the
	// text (the message itself stays, Elided, with its length in Runes). It may set Note.
	// It is called in the order of the records, before abandoned, inherited and order
	// are known, and again for the survivor when a later record replaces a message.
	Keep func(*chat.Message) bool
	// Keys, if set, gives the copied.prefix keys of another conversation of the same
	// provider, by its id; ok is false if there is no such conversation.
	Keys func(ctx context.Context, id string) (keys map[string]bool, ok bool)
}

// Read interprets a file and hands over each conversation in it.
//
// The sources of f are tried in turn; the first that accepts the file (container, when,
// needs) reads it, for a database every one that does. A record that does not fit is
// counted in Conversation.Read and does not make Read fail. Read fails if the file cannot
// be opened, no source accepts it (ErrNotAccepted), or fn fails. The file is opened
// read-only and may grow while Read runs.
func (m *Mapping) Read(ctx context.Context, f File, opts ReadOptions, fn func(*chat.Conversation) error) error {
	panic("stub")
}

// Heads hands over the conversations of a file without their messages: id, title, times
// and whatever else stands outside of the records. It costs one list query for a database.
// ok is false if this kind of file can only be known by reading it (jsonl, text); nothing
// is handed over then. Fields that only records tell are empty.
func (m *Mapping) Heads(ctx context.Context, f File, fn func(*chat.Conversation) error) (ok bool, err error) {
	panic("stub")
}

// Keys reads only the copied.prefix keys of a conversation.
func (m *Mapping) Keys(ctx context.Context, f File, row string) (map[string]bool, error) {
	panic("stub")
}

// A RawFilter says what a search may conclude from the raw bytes of a mapping's files.
type RawFilter int

// The three strengths of a RawFilter.
const (
	// RawNone: texts are made in ways that raw bytes do not show (decode, unescape,
	// map, template); such a file must be parsed.
	RawNone RawFilter = iota
	// RawWords: every word (run of ASCII letters, digits, "_", "-", ".") of a text stands
	// in the bytes, but two neighbours may come from different places.
	RawWords
	// RawRuns: every run of such characters and single blanks stands in the bytes.
	RawRuns
)

// RawFilter is what holds for user and assistant texts of this mapping.
func (m *Mapping) RawFilter() RawFilter { panic("stub") }

// IDInBytes says whether the id of every conversation stands as it is in the file's
// bytes or in its path. If not (templates, maps), ids are only known by reading.
func (m *Mapping) IDInBytes() bool { panic("stub") }

// HintID is the id that the path of f suggests: the value of conversation.id as far as it
// is made of file: alone, else the stem. Files of one provider with equal hints may hold
// the same conversation.
func (m *Mapping) HintID(f File) string { panic("stub") }
