package history

import (
	"bytes"
	"context"
	"strings"
	"unicode"

	"parlance/internal/chat"
	"parlance/internal/mapping"
	"parlance/internal/source"
)

// siftFromBytes: smaller files are read at once.
const siftFromBytes = 64 << 10

// A hope is the best that an item may hold. The items with the higher hopes are read first:
// whatever they hold goes before what the others do.
type hope int

const (
	_ hope = iota // nothing was concluded yet
	hopeless
	hopeSpread   // all words, somewhere
	hopeTogether // all words, in one message
	hopePhrase
)

// rank is the best rank that comes of a hope.
func (h hope) rank() int { return int(hopePhrase - h) }

// sift says what an item whose bytes hold the needle, or its words, may hold where it counts.
// Most of a transcript is what tools said, so that frequent words stand in nearly every file;
// of a file only some lines are read for that, and only up to the first message that settles
// it: those with the phrase, those with all words, or, at the last stage, those with any word.
// Each message comes from one line, so none is missed. Of the rows of a database those go that
// hold nothing; those that hold less than others are put off.
func (s *searching) sift(ctx context.Context, it *item) (hope, error) {
	if s.q.needle == "" || len(it.members) != 1 {
		return hopePhrase, nil
	}
	m := &it.members[0]
	f, plan := m.f, s.plan(m.f)
	// An id may be put together from several lines, but then by other characters than these.
	whole := !strings.ContainsFunc(s.q.needle, func(c rune) bool { return c > unicode.MaxASCII || !plain(byte(c)) })
	lines := f.lines && f.Size >= s.h.siftFrom && !strings.Contains(f.folded(), s.q.needle) &&
		(whole || !s.q.idLike() && !s.b.subagents)
	if plan.every || !lines && m.rows == nil || s.q.words != nil && len(plan.words) == 0 {
		return hopePhrase, nil
	}
	demands := plan.phrase[:1]
	if s.q.words != nil {
		demands = plan.words
	}
	var finders []*source.Finder // one for each word
	for _, demand := range demands {
		var needles []source.Needle
		for _, n := range demand {
			needles = append(needles, plan.needles[n])
		}
		finders = append(finders, source.NewFinder(needles))
	}
	spread := s.q.words != nil && s.stage == hopeSpread
	telling := func(line []byte) bool {
		for _, finder := range finders {
			if finder.In(line) == spread {
				return spread
			}
		}
		return !spread
	}
	release, err := s.h.weigh(ctx, f)
	if err != nil {
		return hopeless, err
	}
	defer release()
	s.r.work.sifted.Add(1)
	reading, stop := context.WithCancel(ctx)
	defer stop()
	best, seen := hopeless, uint64(0) // in the present conversation
	raise := func(h hope) {
		if best = max(best, h); best >= s.stage && m.rows == nil {
			stop()
		}
	}
	opts := mapping.ReadOptions{
		Rows:         m.wanted(),
		SkipToolText: s.d.skipsTools(),
		Lines: func(line []byte) bool {
			if best >= s.stage || !telling(line) {
				return false
			}
			if bytes.Contains(line, []byte(checkpointMark)) {
				raise(hopePhrase)
			}
			return best < s.stage
		},
		Keep: func(m *chat.Message) bool {
			if best >= s.stage || !s.d.in.holds(m.Role) {
				return false
			}
			body := chat.Fold(m.Body())
			if strings.Contains(body, s.q.needle) {
				raise(hopePhrase)
			}
			words := s.q.in(body)
			seen |= words
			if s.q.words != nil && words == s.q.allWords() {
				raise(hopeTogether)
			}
			return false
		},
	}
	var rows [hopePhrase + 1][]string
	err = f.m.Read(reading, f.File, opts, func(c *chat.Conversation) error {
		if strings.Contains(chat.Fold(c.FullID()), s.q.needle) {
			raise(hopePhrase)
		}
		if s.q.words != nil && (!spread || seen&plan.told == plan.told) {
			raise(hopeSpread)
		}
		rows[best] = append(rows[best], c.Row)
		if m.rows != nil {
			best, seen = hopeless, 0
		}
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return hopeless, ctx.Err()
	case m.rows == nil && err != nil && reading.Err() == nil:
		return hopePhrase, nil // what cannot be read is read again, and then it is said
	case m.rows == nil:
		return best, nil
	case err != nil:
		return hopePhrase, nil
	}
	m.rows = nil
	for h := hopePhrase; h > hopeless; h-- {
		switch {
		case rows[h] == nil:
		case h >= s.stage:
			m.rows = append(m.rows, rows[h]...)
		default:
			s.putOff(&item{bound: it.bound, members: []member{{f: f, rows: rows[h]}}, scanned: true, hope: h})
		}
	}
	if m.rows == nil {
		return hopeless, nil
	}
	return hopePhrase, nil
}

// wanted is mapping.ReadOptions.Rows.
func (m *member) wanted() map[string]bool {
	if m.rows == nil {
		return nil
	}
	rows := map[string]bool{}
	for _, row := range m.rows {
		rows[row] = true
	}
	return rows
}
