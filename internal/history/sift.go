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

// sift says whether an item whose bytes hold the needle may hold it where it counts. Most of
// a transcript is what tools said, so that a frequent word stands in nearly every file; of a
// file only the lines with the word are read for that, and only up to the first message that
// holds it. Each message comes from one line, so none is missed. Of rows of a database those
// go that hold nothing.
func (s *searching) sift(ctx context.Context, it *item) (bool, error) {
	if s.q.needle == "" || len(it.members) != 1 {
		return true, nil
	}
	m := &it.members[0]
	f, plan := m.f, s.plan(m.f)
	// An id may be put together from several lines, but then by other characters than these.
	whole := !strings.ContainsFunc(s.q.needle, func(c rune) bool { return c > unicode.MaxASCII || !plain(byte(c)) })
	lines := f.lines && f.Size >= s.h.siftFrom && !strings.Contains(f.fold, s.q.needle) &&
		(whole || !s.q.idLike() && !s.b.subagents)
	if plan.every || !lines && m.rows == nil {
		return true, nil
	}
	word, demand := s.q.needle, plan.phrase[0]
	if s.q.words != nil {
		if plan.telling < 0 {
			return true, nil
		}
		word, demand = s.q.words[plan.telling], plan.words[0]
	}
	needles := make([]source.Needle, len(demand))
	for i, n := range demand {
		needles[i] = plan.needles[n]
	}
	release, err := s.h.weigh(ctx, f)
	if err != nil {
		return false, err
	}
	defer release()
	s.r.work.sifted.Add(1)
	reading, stop := context.WithCancel(ctx)
	defer stop()
	found := false // in the present conversation
	hit := func() {
		if found = true; m.rows == nil {
			stop()
		}
	}
	finder := source.NewFinder(needles)
	opts := mapping.ReadOptions{
		Rows:         m.wanted(),
		SkipToolText: s.d.skipsTools(),
		Lines: func(line []byte) bool {
			if found || !finder.In(line) {
				return false
			}
			if bytes.Contains(line, []byte(checkpointMark)) {
				hit()
			}
			return !found
		},
		Keep: func(m *chat.Message) bool {
			if !found && s.d.in.holds(m.Role) && strings.Contains(chat.Fold(m.Body()), word) {
				hit()
			}
			return false
		},
	}
	var rows []string
	err = f.m.Read(reading, f.File, opts, func(c *chat.Conversation) error {
		if found || strings.Contains(chat.Fold(c.FullID()), s.q.needle) {
			hit()
			rows = append(rows, c.Row)
		}
		found = found && m.rows == nil
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case m.rows == nil:
		return found || err != nil, nil // what cannot be read is read again, and then it is said
	case err == nil:
		m.rows = rows
	}
	return len(m.rows) > 0, nil
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
