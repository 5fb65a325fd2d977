//go:build !linux

package torture

// lock is for systems on which a process can lock a file against itself.
func lock(string) (unlock func() error, err error) { return nil, errNotHere }
