package source

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// An overlay is a SQLite database as it was at one moment, made of its file and of what lies
// beside it. SQLite reads it as one read-only file and never opens the real ones: on those
// it would make or remove -wal and -shm, wait for locks, or miss the newest rows.
//
//   - The committed frames of the -wal lie over the pages of the file.
//   - The pages in a hot -journal, the originals of a transaction that has not ended or
//     never will, lie over the file's.
//
// Frames that are appended to the WAL later do not matter. What disturbs an overlay is a
// checkpoint, which writes to the file, and the next transaction with a journal: intact
// notices both. Memory is a few bytes for each page in -wal or -journal.
type overlay struct {
	path      string
	real      string // path behind links: SQLite lays -wal and -journal beside that
	db        *os.File
	wal       *os.File         // nil if there is none
	journal   *os.File         // nil unless hot
	page      int64            // bytes; 0 if the database is empty
	size      int64            // bytes of the database as SQLite sees it
	inWAL     map[uint32]int64 // page number to the place of its bytes in wal
	inJournal map[uint32]int64 // the same in journal
	opened    stamp
	touched   bool  // ReadAt was called since somebody set it to false
	fault     error // the first read that went wrong, to be said instead of SQLite's "disk I/O error"
}

// A stamp changes when the files no longer are what the overlay was made of.
type stamp struct {
	size             int64
	time             time.Time
	db, wal, journal [32]byte // the beginning of each, with change counter, salts and nonce
}

// openOverlay opens path and what lies beside it. The caller closes the overlay.
func openOverlay(path string) (*overlay, error) {
	db, _, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	o := &overlay{path: path, real: behindLinks(path), db: db}
	// The stamp of the database comes first: a checkpoint after it is noticed, one before it
	// is complete or its frames are still in the WAL.
	if o.opened, err = o.stamp(); err != nil {
		o.Close()
		return nil, err
	}
	if err := o.read(); err != nil {
		err = o.orChanged(err)
		o.Close()
		return nil, err
	}
	return o, nil
}

// Close closes the files.
func (o *overlay) Close() error {
	for _, f := range []*os.File{o.wal, o.journal} {
		if f != nil {
			f.Close()
		}
	}
	return o.db.Close()
}

func (o *overlay) stamp() (s stamp, err error) {
	info, err := o.db.Stat()
	if err != nil {
		return s, inForm(o.path, err)
	}
	s.size, s.time = info.Size(), info.ModTime()
	for _, of := range []struct {
		file *os.File
		to   *[32]byte
	}{{o.db, &s.db}, {o.wal, &s.wal}, {o.journal, &s.journal}} {
		if of.file == nil {
			continue
		}
		if _, err := of.file.ReadAt(of.to[:], 0); ignoreEOF(err) != nil {
			return s, inForm(of.file.Name(), err)
		}
	}
	return s, nil
}

// intact reports whether the files still are what the overlay was made of.
func (o *overlay) intact() bool {
	now, err := o.stamp()
	return err == nil && now == o.opened
}

// orChanged adds ErrChanged to err if the files changed, which then is its likely cause.
func (o *overlay) orChanged(err error) error {
	if o.intact() {
		return err
	}
	return fmt.Errorf("%w (%w)", err, ErrChanged)
}

// read finds the page size and which page is where.
func (o *overlay) read() error {
	if err := o.readJournal(); err != nil {
		return err
	}
	if o.page == 0 && o.opened.size > 0 {
		head := make([]byte, dbHeaderBytes)
		n, err := o.db.ReadAt(head, 0)
		if ignoreEOF(err) != nil {
			return inForm(o.path, err)
		}
		if o.page, err = o.checkHeader(head[:n]); err != nil {
			return err
		}
		o.size = o.opened.size
	}
	if err := o.readWAL(); err != nil {
		return err
	}
	if o.size == 0 {
		return nil
	}
	head := make([]byte, dbHeaderBytes)
	n, err := o.ReadAt(head, 0)
	if ignoreEOF(err) != nil {
		return err
	}
	page, err := o.checkHeader(head[:n])
	if err != nil {
		return err
	}
	if page != o.page {
		return fmt.Errorf("%s: page size %d: what lies beside it has %d", o.path, page, o.page)
	}
	number := binary.BigEndian.Uint32
	size, current := int64(number(head[28:]))*page, number(head[24:]) == number(head[92:])
	if current && o.size < size {
		return fmt.Errorf("%s: cut short: %d of %d bytes", o.path, o.size, size)
	}
	return nil
}

const (
	dbMagic       = "SQLite format 3\x00"
	dbHeaderBytes = 100
)

// checkHeader gives the page size in the header of a database.
func (o *overlay) checkHeader(head []byte) (page int64, err error) {
	if len(head) < dbHeaderBytes || string(head[:len(dbMagic)]) != dbMagic {
		return 0, fmt.Errorf("%s: %w, or encrypted", o.path, ErrNotDatabase)
	}
	if page = int64(binary.BigEndian.Uint16(head[16:])); page == 1 {
		page = 1 << 16
	}
	if !validPageSize(page) {
		return 0, fmt.Errorf("%s: %w: page size %d", o.path, ErrNotDatabase, page)
	}
	return page, nil
}

func validPageSize(n int64) bool { return n >= 512 && n <= 1<<16 && n&(n-1) == 0 }

// ReadAt gives the bytes of the database as SQLite shall see it.
func (o *overlay) ReadAt(p []byte, off int64) (n int, err error) {
	o.touched = true
	for n < len(p) && off < o.size {
		number, within := off/o.page, off%o.page
		part := p[n:min(int64(len(p)), int64(n)+o.page-within, int64(n)+o.size-off)]
		file, at := o.db, off
		if place, ok := o.inWAL[uint32(number+1)]; ok {
			file, at = o.wal, place+within
		} else if place, ok := o.inJournal[uint32(number+1)]; ok {
			file, at = o.journal, place+within
		}
		read, err := file.ReadAt(part, at)
		n += read
		if read < len(part) {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			err = fmt.Errorf("%s: page %d: %w", o.path, number+1, inForm(file.Name(), err))
			if o.fault == nil {
				o.fault = err
			}
			return n, err
		}
		off += int64(read)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Size is that of the database as SQLite shall see it.
func (o *overlay) Size() (int64, error) { return o.size, nil }

// openBeside opens a file that need not be there; it is nil then.
func openBeside(path string) (*os.File, error) {
	file, _, err := openRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return file, err
}

func behindLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// ignoreEOF: a file that ends is a tail not written yet, anything else is a fault.
func ignoreEOF(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}
