package torture

import (
	"errors"
	"os"
	"syscall"
)

// setOpenLock is F_OFD_SETLK: a lock that counts against our own process too.
const setOpenLock = 37

// lock takes every lock of a file that a writing SQLite takes.
func lock(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.FcntlFlock(f.Fd(), setOpenLock, &syscall.Flock_t{Type: syscall.F_WRLCK}); err != nil {
		return nil, errors.Join(errNotHere, f.Close())
	}
	return f.Close, nil
}
