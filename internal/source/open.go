package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A File is an opened regular file, unpacked if its name ends in .gz or .zst.
type File struct {
	file   *os.File
	info   fs.FileInfo
	unpack io.Reader // what Read reads from: file, or a decoder over it
	zstd   *zstd.Decoder
	at     int64 // unpacked bytes handed over
}

// Open opens a regular file for reading and shares it in every way the system knows. It
// never blocks on a FIFO. Errors name the path.
func Open(path string) (*File, error) {
	file, info, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	f := &File{file: file, info: info, unpack: file}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".gz":
		f.unpack = &gzipReader{packed: file}
	case ".zst":
		f.zstd, err = zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(unpackMemoryMaxBytes))
		if err != nil {
			file.Close()
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		f.unpack = f.zstd
	}
	return f, nil
}

// openRegular opens path, and nothing that is not a regular file: a device may act when it
// is opened, so that is asked first; what was opened in the end is asked again.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = mustBeRegular(path, info)
	}
	if err != nil {
		return nil, nil, inForm(path, err)
	}
	file, err := openShared(path)
	if err != nil {
		return nil, nil, inForm(path, err)
	}
	if info, err = file.Stat(); err == nil {
		err = mustBeRegular(path, info)
	}
	if err != nil {
		file.Close()
		return nil, nil, inForm(path, err)
	}
	return file, info, nil
}

func mustBeRegular(path string, info fs.FileInfo) error {
	kind := "a device"
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		kind = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a FIFO"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	}
	return fmt.Errorf("%s: %w: %s", path, ErrNotRegular, kind)
}

// inForm turns "open /x: no such file" into "/x: no such file".
func inForm(path string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", path, pe.Err)
	}
	return err
}

// Read gives the unpacked bytes in order. A packed file that is cut short or damaged gives
// all that can be unpacked, then an error with the position. A file that has become shorter
// since it was opened gives what is left of it, then ErrChanged.
func (f *File) Read(p []byte) (int, error) {
	n, err := f.unpack.Read(p)
	f.at += int64(n)
	switch {
	case err == io.EOF && f.unpack == io.Reader(f.file) && f.at < f.info.Size():
		return n, fmt.Errorf("%s: %w: it had %d bytes, and ended after %d", f.file.Name(), ErrChanged, f.info.Size(), f.at)
	case err == nil || err == io.EOF:
		return n, err
	case f.unpack == io.Reader(f.file):
		return n, inForm(f.file.Name(), err)
	}
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		err = fmt.Errorf("a window larger than unpackMemoryMaxBytes (128 MB): %w", err)
	}
	return n, fmt.Errorf("%s: unpacked byte %d: %w", f.file.Name(), f.at, err)
}

// toLineEnd is how many bytes there are from where the next Read begins to the end of the line,
// its line end included, or of the file; it counts no more than most. It is 0 for packed files,
// where that cannot be told. The error is ctx's.
func (f *File) toLineEnd(ctx context.Context, most int) (int, error) {
	if f.unpack != io.Reader(f.file) {
		return 0, nil
	}
	return toLineEnd(ctx, f.file, f.at, most)
}

func toLineEnd(ctx context.Context, r io.ReaderAt, at int64, most int) (int, error) {
	buf := make([]byte, pieceBytes)
	for n := 0; ; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		got, err := r.ReadAt(buf, at+int64(n))
		if i := bytes.IndexByte(buf[:got], '\n'); i >= 0 {
			return min(n+i+1, most), nil
		}
		if n += got; err != nil || n >= most {
			return min(n, most), nil
		}
	}
}

// Close closes the file.
func (f *File) Close() error {
	if f.zstd != nil {
		f.zstd.Close()
	}
	return f.file.Close()
}

// Size is the packed size and ModTime the file's time when it was opened.
func (f *File) Size() int64        { return f.info.Size() }
func (f *File) ModTime() time.Time { return f.info.ModTime() }

// A gzipReader reads the header at the first Read, so that a damaged one is an error with a
// position like any other damage.
type gzipReader struct {
	packed io.Reader
	plain  *gzip.Reader
	err    error
}

func (g *gzipReader) Read(p []byte) (int, error) {
	if g.plain == nil && g.err == nil {
		if g.plain, g.err = gzip.NewReader(g.packed); g.err == io.EOF {
			g.err = io.ErrUnexpectedEOF
		}
	}
	if g.err != nil {
		return 0, g.err
	}
	return g.plain.Read(p)
}

var bom = []byte("\xef\xbb\xbf")

// ReadAll reads a whole document, up to documentMaxBytes (ErrTooLarge beyond); a BOM is
// dropped. The file may grow meanwhile; one that shrinks, and a damaged packed file, give what
// could be read beside the error.
func ReadAll(ctx context.Context, path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := readAll(ctx, f, int(min(f.Size(), documentMaxBytes)), documentMaxBytes)
	if errors.Is(err, ErrTooLarge) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return bytes.TrimPrefix(data, bom), err
}

func readAll(ctx context.Context, r io.Reader, expected, most int) ([]byte, error) {
	data := make([]byte, 0, expected+1)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(data) > most {
			return nil, fmt.Errorf("%w: over documentMaxBytes (%d)", ErrTooLarge, most)
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := r.Read(data[len(data):min(cap(data), len(data)+pieceBytes)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return data, err
		}
	}
}
