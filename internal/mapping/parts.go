package mapping

// Alone says whether all messages of a conversation that this source reads stand in the one
// file: its size and time then tell whether there are new ones.
func (s *Source) Alone() bool { return len(s.join) == 0 && s.Decoder == "" }
