package torture

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// A field is one value inside a JSON text.
type field struct {
	path       []string // keys and numbers from the top
	from, to   int      // of the value
	cut, until int      // what has to go to remove it, with its key and one comma; 0, 0 for an element
	key        bool     // it is a member of an object
}

func (f field) pointer() string {
	var b bytes.Buffer
	for _, p := range f.path {
		b.WriteString("/" + p)
	}
	return b.String()
}

// fieldsOf lists the values inside an object or array, the outer ones first; none of what
// is no whole JSON.
func fieldsOf(data []byte) []field {
	start := spaces(data, 0)
	if start == len(data) || data[start] != '{' && data[start] != '[' || !json.Valid(data) {
		return nil
	}
	w := &walker{data: data}
	w.value(start, nil)
	return w.out
}

type walker struct {
	data []byte
	out  []field
}

func spaces(data []byte, i int) int {
	for i < len(data) && bytes.IndexByte([]byte(" \t\r\n"), data[i]) >= 0 {
		i++
	}
	return i
}

// value walks the value at i, which is valid, and returns its end.
func (w *walker) value(i int, path []string) int {
	switch c := w.data[i]; c {
	case '"':
		return w.text(i)
	case '{', '[':
		at, last := i+1, i+1
		for n := 0; ; n++ {
			if at = spaces(w.data, at); w.data[at] == c+2 { // '{'+2 is '}', '['+2 is ']'
				return at + 1
			}
			key := at
			name := strconv.Itoa(n)
			if c == '{' {
				end := w.text(at)
				if json.Unmarshal(w.data[at:end], &name) != nil {
					name = string(w.data[at+1 : end-1])
				}
				at = spaces(w.data, spaces(w.data, end)+1)
			}
			here := len(w.out)
			w.out = append(w.out, field{path: append(path[:len(path):len(path)], name), from: at, key: c == '{'})
			at = w.value(at, w.out[here].path)
			w.out[here].to = at
			end := at
			at = spaces(w.data, at)
			if w.data[at] == ',' {
				at = spaces(w.data, at+1)
				w.out[here].cut, w.out[here].until = key, at
			} else {
				w.out[here].cut, w.out[here].until = last, end
			}
			last = end
		}
	}
	for i < len(w.data) && bytes.IndexByte([]byte(",]} \t\r\n"), w.data[i]) < 0 {
		i++
	}
	return i
}

func (w *walker) text(i int) int {
	for i++; w.data[i] != '"'; i++ {
		if w.data[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// splice gives data with a part of it replaced.
func splice(data []byte, from, to int, with string) []byte {
	out := make([]byte, 0, len(data)+len(with))
	out = append(append(out, data[:from]...), with...)
	return append(out, data[to:]...)
}

// others are values of other types than a value.
func others(value []byte) []string {
	switch value[0] {
	case '"':
		return []string{`12`, `{"zz":1}`, `["zz"]`, `true`}
	case '{':
		return []string{`"zz"`, `[]`, `[{"zz":1}]`, `1`}
	case '[':
		return []string{`"zz"`, `{"zz":[]}`, `0`}
	case 't', 'f':
		return []string{`"zz"`, `7`, `[]`}
	case 'n':
		return []string{`7`, `[null]`}
	}
	return []string{`"zz"`, `{}`, `1e999`, `-0.5`}
}
