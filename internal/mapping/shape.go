package mapping

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Shape is the structure of JSON values without any of them: kinds, keys that are words,
// counts. It is made to be shown to strangers.
type Shape struct {
	Count int
	Kinds map[string]int // a JSON kind; for strings "text", "word", "time", "json" or "empty text"
	Keys  map[string]*Shape
	Items *Shape // of arrays
}

const (
	// shapeLevels is how deep a shape looks.
	shapeLevels = 8
	// shapeKeysMax bounds the keys of one object: one with more is a table whose keys are data.
	shapeKeysMax = 64
	// shapeItemsMax bounds the elements of one array that are looked at.
	shapeItemsMax = 1000
	// OtherKey stands for keys that are no words of a format, or may not be.
	OtherKey = "*"
)

// keyWord is a key that a programmer chose: an identifier that is not long, without the runs
// of digits that ids and dates have.
var (
	keyWord = lazily(`^[$@]?[A-Za-z_][A-Za-z0-9_-]{0,39}$`)
	keyData = lazily(`[0-9]{4}|^[0-9a-fA-F-]{12,}$|[0-9][A-Za-z]+[0-9]`)
	// keyOfTable is a key whose object has data for keys: names of files, people, headers.
	keyOfTable = lazily(`^by[A-Z_-]|[a-z]By[A-Z]|_by_|(?i:^(files|paths|env|environment|headers|cookies|users|people|members|answers)$)`)
)

// PublicPath is a key path as Unread gives them, with OtherKey for what may be data: keys
// that are no words of a format, and those directly in a table.
func PublicPath(path string) string {
	const dot = "\x00" // for one within a key, which is escaped
	keys := strings.Split(strings.ReplaceAll(path, `\.`, dot), ".")
	for i, key := range keys {
		if key != "#" && (!publicKey(key) || i > 0 && keyOfTable().MatchString(keys[i-1])) {
			keys[i] = OtherKey
		}
	}
	return strings.Join(keys, ".")
}

func publicKey(key string) bool { return keyWord().MatchString(key) && !keyData().MatchString(key) }

// Add takes one JSON value into the shape. What is no JSON is counted as broken.
func (s *Shape) Add(raw string) {
	var a arena
	v, ok := parseRecord(raw, &a)
	if !ok {
		s.count("broken")
		return
	}
	s.add(v, shapeLevels)
}

func (s *Shape) count(kind string) {
	s.Count++
	if s.Kinds == nil {
		s.Kinds = map[string]int{}
	}
	s.Kinds[kind]++
}

func (s *Shape) add(v *value, levels int) {
	s.count(shapeKind(v))
	if levels == 0 {
		return
	}
	var a arena
	own := value{raw: v.raw}
	switch own.kind() {
	case jsonObject:
		own.open(&a)
		for i := range own.members {
			s.key(unquote(own.members[i].key)).add(&own.members[i].val, levels-1)
		}
	case jsonArray:
		own.open(&a)
		for i := range own.elems[:min(len(own.elems), shapeItemsMax)] {
			if s.Items == nil {
				s.Items = &Shape{}
			}
			s.Items.add(&own.elems[i], levels-1)
		}
	}
}

// key is the shape of a member, under its own name or that of the others.
func (s *Shape) key(name string) *Shape {
	if s.Keys == nil {
		s.Keys = map[string]*Shape{}
	}
	if !publicKey(name) || s.Keys[name] == nil && len(s.Keys) >= shapeKeysMax {
		name = OtherKey
	}
	k := s.Keys[name]
	if k == nil {
		k = &Shape{}
		s.Keys[name] = k
	}
	return k
}

// shapeKind names the kind of a value, of a string what it looks like.
func shapeKind(v *value) string {
	if v.kind() != jsonString {
		return jsonNames[v.kind()]
	}
	text := strings.TrimSpace(v.str())
	if _, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return "time"
	}
	var a arena
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		if _, ok := parseRecord(text, &a); ok {
			return "json"
		}
	}
	switch {
	case text == "":
		return "empty text"
	case strings.ContainsAny(text, " \t\r\n"):
		return "text"
	}
	return "word"
}

// rareFrom is from how many values on a key that only one of them has is taken for data.
const rareFrom = 8

// tableFrom is from how many keys on an object of which hardly a key comes twice is taken
// for a table: its keys are data.
const tableFrom = 12

// Lines writes the shape for people, one key a line, indented by level. Keys that only one of
// many values has, and those of tables, are put under OtherKey.
func (s *Shape) Lines() []string {
	var out []string
	s.write(&out, "", "")
	return out
}

func (s *Shape) write(out *[]string, indent, name string) {
	if name != "" {
		name += ": "
	}
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(s.Kinds)) {
		kinds = append(kinds, kind+" "+strconv.Itoa(s.Kinds[kind]))
	}
	*out = append(*out, indent+name+strings.Join(kinds, ", "))
	keys := s.shown(keyOfTable().MatchString(strings.TrimSuffix(name, ": ")) || s.alike())
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		keys[key].write(out, indent+"  ", key)
	}
	if s.Items != nil {
		s.Items.write(out, indent+"  ", "each")
	}
}

// alikeFrom is from how many keys on an object whose members are all objects of the same keys
// is taken for a table.
const alikeFrom = 3

// alike says whether the members are the rows of a table: objects of the same keys.
func (s *Shape) alike() bool {
	if len(s.Keys) < alikeFrom {
		return false
	}
	var first []string
	for _, k := range s.Keys {
		keys := slices.Sorted(maps.Keys(k.Keys))
		if first == nil {
			first = keys
		}
		if len(keys) == 0 || !slices.Equal(keys, first) {
			return false
		}
	}
	return true
}

// shown are the keys, data apart. Those of a table are data.
func (s *Shape) shown(table bool) map[string]*Shape {
	total := 0
	for _, k := range s.Keys {
		total += k.Count
	}
	table = table || len(s.Keys) >= tableFrom && total < 2*len(s.Keys) && s.Kinds["object"] > 1 || len(s.Keys) >= shapeKeysMax
	keys := map[string]*Shape{}
	for name, k := range s.Keys {
		if table || k.Count == 1 && s.Kinds["object"] >= rareFrom {
			name = OtherKey
		}
		if keys[name] == nil {
			keys[name] = &Shape{}
		}
		keys[name].Merge(k)
	}
	return keys
}

// Merge adds what another shape counted.
func (s *Shape) Merge(o *Shape) {
	s.Count += o.Count
	for kind, n := range o.Kinds {
		if s.Kinds == nil {
			s.Kinds = map[string]int{}
		}
		s.Kinds[kind] += n
	}
	for name, k := range o.Keys {
		s.key(name).Merge(k)
	}
	if o.Items != nil {
		if s.Items == nil {
			s.Items = &Shape{}
		}
		s.Items.Merge(o.Items)
	}
}
