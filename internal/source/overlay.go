package source

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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
	path    string
	db      *os.File
	wal     *os.File         // nil if there is none
	journal *os.File         // nil unless hot
	page    int64            // bytes; 0 if the database is empty
	size    int64            // bytes of the database as SQLite sees it
	inWAL   map[uint32]int64 // page number to the place of its bytes in wal
	inJrnl  map[uint32]int64 // the same in journal
	opened  stamp
	fault   error // the first read that went wrong, to be said instead of SQLite's "disk I/O error"
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
	o := &overlay{path: path, db: db}
	// The stamp of the database comes first: a checkpoint after it is noticed, one before it
	// is complete or its frames are still in the WAL.
	if o.opened, err = o.stamp(); err == nil {
		err = o.read()
	}
	if err != nil {
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
	for f, to := range map[*os.File]*[32]byte{o.db: &s.db, o.wal: &s.wal, o.journal: &s.journal} {
		if f == nil {
			continue
		}
		if _, err := f.ReadAt(to[:], 0); err != nil && err != io.EOF {
			return s, inForm(f.Name(), err)
		}
	}
	return s, nil
}

// intact reports whether the files still are what the overlay was made of.
func (o *overlay) intact() bool {
	now, err := o.stamp()
	return err == nil && now == o.opened
}

// read finds the page size and which page is where.
func (o *overlay) read() error {
	if err := o.readJournal(); err != nil {
		return err
	}
	if o.page == 0 && o.opened.size > 0 {
		head := make([]byte, dbHeaderBytes)
		n, err := o.db.ReadAt(head, 0)
		if err != nil && err != io.EOF {
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
	if err != nil && err != io.EOF {
		return err
	}
	page, err := o.checkHeader(head[:n])
	if err != nil {
		return err
	}
	word := binary.BigEndian.Uint32
	pages := int64(word(head[28:]))
	switch {
	case page != o.page:
		return fmt.Errorf("%s: page size %d: what lies beside it has %d", o.path, page, o.page)
	case word(head[24:]) == word(head[92:]) && o.size < pages*page: // else pages is out of date
		return fmt.Errorf("%s: cut short: %d of %d bytes", o.path, o.size, pages*page)
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
	for n < len(p) && off < o.size {
		number, within := off/o.page, off%o.page
		part := p[n:min(int64(len(p)), int64(n)+o.page-within, int64(n)+o.size-off)]
		file, at := o.db, off
		if place, ok := o.inWAL[uint32(number+1)]; ok {
			file, at = o.wal, place+within
		} else if place, ok := o.inJrnl[uint32(number+1)]; ok {
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
func (o *overlay) openBeside(suffix string) (*os.File, error) {
	file, _, err := openRegular(o.path + suffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return file, err
}

const (
	walHeaderBytes = 32
	walFrameBytes  = 24 // in front of each page
	beside         = 256 << 10
)

// readWAL notes where the newest committed copy of each page is, by SQLite's own rules
// (https://sqlite.org/fileformat2.html#the_write_ahead_log): a frame counts if it carries
// the salts of the header and the running checksum fits, up to the last frame that ends a
// transaction. What follows is unfinished, or left over from before the WAL was restarted.
func (o *overlay) readWAL() (err error) {
	if o.wal, err = o.openBeside("-wal"); o.wal == nil {
		return err
	}
	defer func() {
		if o.inWAL == nil { // nothing is read from it, so it may change
			o.wal.Close()
			o.wal, o.opened.wal = nil, [32]byte{}
		}
	}()
	in := bufio.NewReaderSize(io.NewSectionReader(o.wal, 0, 1<<62), beside)
	header := o.opened.wal[:]
	if _, err := io.ReadFull(in, header); err != nil {
		return ignoreEOF(err)
	}
	word := binary.BigEndian.Uint32
	page := int64(word(header[8:]))
	order, ok := map[uint32]binary.ByteOrder{0x377f0682: binary.LittleEndian, 0x377f0683: binary.BigEndian}[word(header)]
	if !ok || word(header[4:]) != 3007000 || !validPageSize(page) {
		return nil
	}
	sum := walSum{}
	if sum.add(order, header[:24]); sum != (walSum{word(header[24:]), word(header[28:])}) {
		return nil
	}
	var (
		numbers   []uint32 // of the page in each frame
		committed int      // frames up to the last commit
		pages     uint32   // in the database after it
		frame     = make([]byte, walFrameBytes+page)
	)
	for {
		if _, err := io.ReadFull(in, frame); err != nil {
			if ignoreEOF(err) != nil {
				return err
			}
			break
		}
		if word(frame) == 0 || string(frame[8:16]) != string(header[16:24]) {
			break
		}
		sum.add(order, frame[:8])
		sum.add(order, frame[walFrameBytes:])
		if sum != (walSum{word(frame[16:]), word(frame[20:])}) {
			break
		}
		numbers = append(numbers, word(frame))
		if n := word(frame[4:]); n > 0 {
			committed, pages = len(numbers), n
		}
	}
	if committed == 0 {
		return nil
	}
	if o.page != 0 && o.page != page {
		return fmt.Errorf("%s-wal: page size %d: the database has %d", o.path, page, o.page)
	}
	o.page, o.size = page, int64(pages)*page
	o.inWAL = make(map[uint32]int64)
	for i, number := range numbers[:committed] {
		o.inWAL[number] = walHeaderBytes + int64(i)*(walFrameBytes+page) + walFrameBytes
	}
	return nil
}

// A walSum is the running checksum of a WAL.
type walSum [2]uint32

// add adds data, whose length is a multiple of 8.
func (s *walSum) add(order binary.ByteOrder, data []byte) {
	a, b := s[0], s[1]
	if order == binary.LittleEndian { // twice as fast as through the interface, and the usual one
		for ; len(data) >= 8; data = data[8:] {
			a += binary.LittleEndian.Uint32(data) + b
			b += binary.LittleEndian.Uint32(data[4:]) + a
		}
	}
	for ; len(data) >= 8; data = data[8:] {
		a += order.Uint32(data) + b
		b += order.Uint32(data[4:]) + a
	}
	s[0], s[1] = a, b
}

// ignoreEOF: a file that ends is a tail not written yet, anything else is a fault.
func ignoreEOF(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}

const journalMagic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"

// readJournal notes where the original pages of a hot journal are, by the rules of
// https://sqlite.org/fileformat2.html#the_rollback_journal. A journal whose header is not
// written yet, or was cleared, is not hot: the file is as it shall be.
func (o *overlay) readJournal() (err error) {
	if o.journal, err = o.openBeside("-journal"); o.journal == nil {
		return err
	}
	info, err := o.journal.Stat()
	if err != nil {
		return inForm(o.path+"-journal", err)
	}
	word := binary.BigEndian.Uint32
	var sector, page, pages int64
	header := make([]byte, 32)
	for at := int64(0); ; at = (at + sector - 1) / sector * sector {
		if _, err = o.journal.ReadAt(header, at); err != nil || string(header[:8]) != journalMagic {
			break
		}
		if at == 0 {
			pages, sector, page = int64(word(header[16:])), int64(word(header[20:])), int64(word(header[24:]))
			if !validPageSize(page) || sector < 32 || sector > 1<<16 || sector&(sector-1) != 0 {
				break
			}
			copy(o.opened.journal[:], header)
		}
		at += sector
		count := int64(word(header[8:]))
		if count == 1<<32-1 { // not synced: as many as there are
			count = (info.Size() - at) / (page + 8)
		}
		in := bufio.NewReaderSize(io.NewSectionReader(o.journal, at, count*(page+8)), beside)
		record := make([]byte, page+8)
		for ; count > 0; count-- {
			if _, err = io.ReadFull(in, record); err != nil {
				break
			}
			number, data := word(record), record[4:4+page]
			sum := word(header[12:])
			for i := page - 200; i > 0; i -= 200 {
				sum += uint32(data[i])
			}
			if number == 0 || int64(number) == 1<<30/page+1 || sum != word(record[4+page:]) {
				break
			}
			if o.inJrnl == nil {
				o.inJrnl = make(map[uint32]int64)
				o.page, o.size = page, pages*page
			}
			if _, twice := o.inJrnl[number]; !twice {
				o.inJrnl[number] = at + 4
			}
			at += page + 8
		}
		if count > 0 {
			break
		}
	}
	if ignoreEOF(err) != nil {
		return inForm(o.path+"-journal", err)
	}
	if o.inJrnl == nil {
		err = o.journal.Close()
		o.journal, o.opened.journal = nil, [32]byte{}
	}
	return err
}
