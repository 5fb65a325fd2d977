package mapping

// Load reads one mapping file, checks it and compiles it. All problems are returned at
// once, in file order; the mapping is nil if one of them is not a warning. base gives the
// bytes of the mapping that extends names.
func Load(file string, data []byte, base func(name string) (file string, data []byte, ok bool)) (*Mapping, []Problem) {
	panic("stub")
}
