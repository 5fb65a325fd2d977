//go:build unix

package torture

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
)

func fifos(r *run, v *victim) []damage {
	return v.instead("the file", func(path string) error { return syscall.Mkfifo(path, 0o600) })
}

func sockets(r *run, v *victim) []damage {
	return v.instead("the file", func(path string) error {
		// The path of a socket may have about a hundred bytes: it is made elsewhere, and moved.
		dir, err := os.MkdirTemp("", "s")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		short := filepath.Join(dir, "s")
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
		if err != nil {
			return errNotHere
		}
		l.SetUnlinkOnClose(false)
		defer l.Close()
		if os.Rename(short, path) != nil {
			return errNotHere // another file system
		}
		return nil
	})
}
