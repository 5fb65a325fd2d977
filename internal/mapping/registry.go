package mapping

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"parlance/internal/source"
)

const (
	// registryMaxBytes: a registry is a list of folders. The biggest seen has a few kB.
	registryMaxBytes = source.RegistryMaxBytes
	// registryMax bounds its elements: each costs a look at the disk.
	registryMax = source.RegistryMax
)

// elements are those of all registry files, in order. A registry that is not there gives
// none; a broken one gives none and is reported.
func (pf *pathsFrom) elements(ctx context.Context, env Env, split []string) ([]gjson.Result, []FindError) {
	places, err := expandPlaces(env, pf.file, split)
	w := &walker{ctx: ctx, limits: defaultGlobLimits}
	if err != nil {
		w.problem(pf.file, err)
	}
	for i := range places {
		places[i].rank = i
	}
	w.walk(places)
	var all []gjson.Result
	for _, f := range w.found {
		if f.info.Size() > registryMaxBytes {
			w.problem(f.path, fmt.Errorf("registry: larger than registryMaxBytes (%d MB)", registryMaxBytes>>20))
			continue
		}
		data, err := source.ReadAll(ctx, f.path)
		if err != nil {
			if !missing(err) {
				w.problem(f.path, err)
			}
			continue
		}
		if len(data) > registryMaxBytes { // it was packed, or grew
			w.problem(f.path, fmt.Errorf("registry: larger than registryMaxBytes (%d MB)", registryMaxBytes>>20))
			continue
		}
		list, err := pf.list(data)
		if err != nil {
			w.problem(f.path, err)
			continue
		}
		if room := registryMax - len(all); len(list) > room {
			w.problem(f.path, fmt.Errorf("registry: more elements than registryMax (%d): the rest is left out", registryMax))
			list = list[:room]
		}
		all = append(all, list...)
	}
	return all, w.errs
}

// list is what each selects of a registry's bytes: the elements of an array, the values of
// an object, none if there is nothing.
func (pf *pathsFrom) list(data []byte) ([]gjson.Result, error) {
	if !gjson.ValidBytes(data) {
		return nil, errors.New("registry: not one whole JSON value")
	}
	r := gjson.ParseBytes(data)
	switch {
	case pf.each == nil || pf.each.whole:
	case pf.each.plain != nil:
		for _, key := range pf.each.plain {
			r = r.Get(gjson.Escape(key))
		}
	default:
		r = r.Get(pf.each.gjson)
	}
	switch {
	case r.Type == gjson.Null:
		return nil, nil
	case r.IsArray():
		return r.Array(), nil
	case r.IsObject():
		var list []gjson.Result
		r.ForEach(func(_, v gjson.Result) bool {
			list = append(list, v)
			return true
		})
		return list, nil
	}
	return nil, fmt.Errorf("registry: %s is %s; a list is needed", pf.each.src, kindOf(r))
}

func kindOf(r gjson.Result) string {
	switch r.Type {
	case gjson.String:
		return "a string"
	case gjson.Number:
		return "a number"
	case gjson.True, gjson.False:
		return "true or false"
	}
	return "null"
}

// fillBraces puts the element's values into the braces of a pattern, so that they stand for
// nothing but themselves. It is not ok if a value is absent, no text, or, behind other
// text, absolute or with a ".." in it.
func fillBraces(env Env, pattern string, el gjson.Result) (string, bool) {
	x := &expander{env: env}
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '$' && i+1 < len(pattern) && pattern[i+1] == '{' {
			b.WriteString("${")
			i++
			continue
		}
		if pattern[i] != '{' {
			b.WriteByte(pattern[i])
			continue
		}
		end := closing(pattern, i)
		if end < 0 {
			return "", false
		}
		key := pattern[i+1 : end]
		if len(alternatives(key)) > 1 {
			b.WriteString(pattern[i : end+1])
			i = end
			continue
		}
		value := el
		if key != "." {
			value = el.Get(key)
		}
		if value.Type != gjson.String && value.Type != gjson.Number {
			return "", false
		}
		filled := x.literal(value.String())
		if len(filled) == 0 || b.Len() > 0 && (isAbs(filled[0]) || slices.Contains(strings.Split(filled[0], "/"), "..")) {
			return "", false
		}
		b.WriteString(filled[0])
		i = end
	}
	return b.String(), true
}
