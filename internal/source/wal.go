package source

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

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
	if o.wal, err = openBeside(o.real + "-wal"); o.wal == nil {
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
		return fmt.Errorf("%s-wal: page size %d: the database has %d", o.real, page, o.page)
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
