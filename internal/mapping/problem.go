package mapping

// A Problem is one thing wrong with a mapping file. Line and Col are 1-based; Col counts
// characters, as yaml.v3 does; EndCol is 0 when unknown. Hint, when set, is one sentence
// saying what to write instead. Code is stable: "PL012".
type Problem struct {
	File      string
	Line, Col int
	EndCol    int
	Key       string // dotted YAML path, such as "messages[3].as"
	Msg, Hint string
	Code      string
	Warning   bool
	Source    string // the source line, for the excerpt
}
