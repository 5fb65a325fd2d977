package mapping

import (
	"regexp"
	"strings"
)

// What a tool adds to records that a rule knows would be lost without a word: no selector
// reads it. Most of it is no loss (counts, flags, ids), so only what holds prose counts, and
// only under a key that neither a selector of the mapping nor a sample of its tests has:
// whoever wrote the mapping has never met it.

// Limits of the search for fields that nothing reads.
const (
	unreadDepthMax    = 6
	unreadElementsMax = 100 // of a list
	unreadTextMin     = 12  // bytes of prose that are worth a word
)

// keySense is what a mapping knows of keys, wherever they stand.
type keySense struct {
	read map[string]bool // some selector takes what stands there, whole
	met  map[string]bool // some selector leads through there, or a sample has it
}

// segmentName is a key in a gjson path.
var segmentName = regexp.MustCompile(`[A-Za-z0-9_$-]+`)

func (m *Mapping) knownKeys() *keySense {
	m.keysOnce.Do(func() {
		k := &keySense{read: map[string]bool{}, met: map[string]bool{}}
		for _, u := range m.selectors {
			path := u.sel.plain
			if path == nil {
				path = segmentName.FindAllString(u.sel.gjson, -1)
			}
			leads := stepField().MatchString(u.path)
			for i, key := range path {
				k.met[key] = true
				if i == len(path)-1 && !leads {
					k.read[key] = true
				}
			}
		}
		for _, t := range m.tests {
			for _, sample := range []*string{t.records, t.document, t.text} {
				if sample == nil {
					continue
				}
				var a arena
				if v, ok := parseRecord(*sample, &a); ok {
					k.sample(v, 0, &a)
					continue
				}
				for line := range strings.SplitSeq(*sample, "\n") {
					if v, ok := parseObject(strings.TrimSpace(line), &a); ok {
						k.sample(v, 0, &a)
					}
				}
			}
		}
		m.keySense = k
	})
	return m.keySense
}

// stepField is the place of a selector that leads somewhere, or is only compared.
var stepField = lazily(`(^|\.)(in|each|records|conversations|children|when|unless|only|except)(\[\d+\])?(\.|$)`)

func (k *keySense) sample(v *value, depth int, a *arena) {
	if depth > poolMaxDepth {
		return
	}
	switch v.kind() {
	case jsonObject:
		if v.open(a) < 0 {
			return
		}
		for i := range v.members {
			k.met[unquote(v.members[i].key)] = true
			k.sample(&v.members[i].val, depth+1, a)
		}
	case jsonArray:
		list := v.list(a)
		for i := range list {
			k.sample(&list[i], depth+1, a)
		}
	}
}

// unread gives the fields of a record that hold prose and that nothing in the mapping knows:
// keys joined by dots, a list's elements as "#".
func (k *keySense) unread(raw string) []string {
	var a arena
	v, ok := parseObject(raw, &a)
	if !ok {
		return nil
	}
	var out []string
	seen := map[string]bool{}
	var walk func(v *value, path string, depth int)
	walk = func(v *value, path string, depth int) {
		if depth > unreadDepthMax {
			return
		}
		switch v.kind() {
		case jsonObject:
			if v.open(&a) < 0 {
				return
			}
			for i := range v.members {
				m := &v.members[i]
				key := unquote(m.key)
				if k.read[key] {
					continue
				}
				at := path + escapeKey(key)
				switch {
				case k.met[key]:
					walk(&m.val, at+".", depth+1)
				case !seen[at] && keyWord().MatchString(key) && !keyData().MatchString(key) && proseBelow(&m.val, depth+1, &a):
					seen[at] = true
					out = append(out, at)
				}
			}
		case jsonArray:
			list := v.list(&a)
			for i := range list[:min(len(list), unreadElementsMax)] {
				walk(&list[i], path+"#.", depth+1)
			}
		}
	}
	walk(v, "", 0)
	return out
}

// proseBelow says whether a value is prose, or holds some.
func proseBelow(v *value, depth int, a *arena) bool {
	switch v.kind() {
	case jsonString:
		return len(v.raw) >= unreadTextMin+2 && hasProse(v.raw[1:len(v.raw)-1])
	case jsonObject:
		if depth > unreadDepthMax || v.open(a) < 0 {
			return false
		}
		for i := range v.members {
			if proseBelow(&v.members[i].val, depth+1, a) {
				return true
			}
		}
	case jsonArray:
		if depth > unreadDepthMax {
			return false
		}
		list := v.list(a)
		for i := range list[:min(len(list), unreadElementsMax)] {
			if proseBelow(&list[i], depth+1, a) {
				return true
			}
		}
	}
	return false
}
