//go:build !unix

package torture

func fifos(*run, *victim) []damage   { return nil }
func sockets(*run, *victim) []damage { return nil }
