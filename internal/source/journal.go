package source

import (
	"bufio"
	"encoding/binary"
	"io"
)

const journalMagic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"

// readJournal notes where the original pages of a hot journal are, by the rules of
// https://sqlite.org/fileformat2.html#the_rollback_journal. A journal whose header is not
// written yet, or was cleared, is not hot: the file is as it shall be.
func (o *overlay) readJournal() (err error) {
	if o.journal, err = openBeside(o.real + "-journal"); o.journal == nil {
		return err
	}
	defer func() {
		if o.inJournal == nil { // nothing is read from it
			o.journal.Close()
			o.journal, o.opened.journal = nil, [32]byte{}
		}
	}()
	info, err := o.journal.Stat()
	if err != nil {
		return inForm(o.journal.Name(), err)
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
			if o.inJournal == nil {
				o.inJournal = make(map[uint32]int64)
				o.page, o.size = page, pages*page
			}
			if _, twice := o.inJournal[number]; !twice {
				o.inJournal[number] = at + 4
			}
			at += page + 8
		}
		if count > 0 {
			break
		}
	}
	if err = ignoreEOF(err); err != nil {
		return inForm(o.journal.Name(), err)
	}
	return nil
}
