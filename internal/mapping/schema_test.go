package mapping

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"parlance/mappings"
)

const schemaFile = "../../mappings/schema.json"

// The copy beside the mappings is what editors read.
func TestSchemaFile(t *testing.T) {
	if *update {
		if err := os.WriteFile(schemaFile, Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, Schema()) {
		t.Error("mappings/schema.json is not what the key table gives; run: go test ./internal/mapping -run SchemaFile -update")
	}
}

func compileSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asEditors reads YAML as editors do before they look at the schema: by its core types.
func asEditors(n *yaml.Node) any {
	switch n.Kind {
	case yaml.DocumentNode:
		return asEditors(n.Content[0])
	case yaml.SequenceNode:
		list := []any{}
		for _, c := range n.Content {
			list = append(list, asEditors(c))
		}
		return list
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			m[n.Content[i].Value] = asEditors(n.Content[i+1])
		}
		return m
	case yaml.ScalarNode:
		switch n.Tag {
		case "!!null":
			return nil
		case "!!bool":
			return n.Value == "true"
		case "!!int":
			if i, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
				return i
			}
		case "!!float":
			if f, err := strconv.ParseFloat(n.Value, 64); err == nil {
				return f
			}
		}
		return n.Value
	}
	return nil
}

// refused gives the places at which a mapping does not fit the schema, as key paths of
// problems are written. All of the alternatives that were tried count.
func refused(t testing.TB, s *jsonschema.Schema, data []byte) []string {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	err := s.Validate(asEditors(&doc))
	if err == nil {
		return nil
	}
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		t.Fatal(err)
	}
	var places []string
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			at := ""
			for _, token := range e.InstanceLocation {
				if i, err := strconv.Atoi(token); err == nil {
					at = sub(at, i)
				} else {
					at = dot(at, token)
				}
			}
			places = append(places, at+" ("+strings.ReplaceAll(e.Error(), "\n", " ")+")")
		}
		for _, c := range e.Causes {
			walk(c)
		}
	}
	walk(ve)
	return places
}

func TestSchemaAcceptsMappings(t *testing.T) {
	s := compileSchema(t)
	try := func(name string, data []byte) {
		if places := refused(t, s, data); places != nil {
			t.Errorf("%s: %s", name, strings.Join(places, "\n\t"))
		}
	}
	files, err := fs.Glob(mappings.FS, "*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := fs.ReadFile(mappings.FS, file)
		if err != nil {
			t.Fatal(err)
		}
		try(file, data)
	}
	more, err := filepath.Glob("testdata/check/*.yaml")
	if err != nil || len(more) == 0 {
		t.Fatal(more, err)
	}
	for _, file := range more {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		try(file, data)
	}
	// What only has warnings is a mapping that works.
	bad, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range bad {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if m, _ := Load(filepath.Base(file), data, badBase); m != nil {
			try(file, data)
		}
	}
}

// beyondSchema are problems that lie between distant keys, or inside of a text.
var beyondSchema = []string{
	"patterns.yaml sources[1].capture",          // names of the groups of an RE2
	"text_lines.yaml sources[1].lines[2].match", // the same
	"required_fields.yaml messages[2]",          // a result needs call, unless pair says otherwise
	"same.yaml same[0].by",                      // what goes together depends on which roles are named
	"same.yaml same[1].as", "same.yaml same[2].by", "same.yaml same[4].by",
	"sql.yaml conversation.id",        // list is a key of a source
	"tests_content.yaml tests[2].sql", // the container is a key of a source
}

// Each place with a wrong key, shape, word or empty value that Load names is one at which
// the schema refuses the file, or it is in a part of it that it refuses whole.
func TestSchemaRefusesBadMappings(t *testing.T) {
	s := compileSchema(t)
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	codes := []string{codeUnknownKey, codeWrongKind, codeUnknownWord, codeMissing, codeEmpty, codeField, codeConflict}
	seen := 0
	for _, file := range files {
		name := filepath.Base(file)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, problems := Load(name, data, badBase)
		var places []string
		for _, p := range problems {
			if !slices.Contains(codes, p.Code) || p.File != name || p.Warning {
				continue
			}
			if places == nil {
				if places = refused(t, s, data); places == nil {
					t.Errorf("%s: accepted; Load says: %s", name, p.Headline())
					break
				}
			}
			seen++
			if slices.Contains(beyondSchema, name+" "+p.Key) {
				continue
			}
			if !slices.ContainsFunc(places, func(at string) bool { return near(at, p.Key) }) {
				t.Errorf("%s: not refused at %s: %s\n\t%s", name, p.Key, p.Headline(), strings.Join(places, "\n\t"))
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d problems were compared", seen)
	}
}

// near says that a refused place is that of the problem, or the map or list it stands in.
func near(at, key string) bool {
	at, _, _ = strings.Cut(at, " (")
	if at == key || strings.HasPrefix(at, key+".") || strings.HasPrefix(at, key+"[") {
		return true
	}
	parent := key[:max(0, strings.LastIndexAny(key, ".["))]
	return at == parent
}
