package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxFile is how many bytes of a file are read: nothing that a flag stands for may be
// as large.
const maxFile = 4 << 20

// ReadFile reads what a flag names. A file without an end, such as /dev/zero, is an
// error too.
func ReadFile(path string) ([]byte, error) { return ReadFileOf(path, maxFile) }

// ReadFileOf is ReadFile for what may have so many bytes.
func ReadFileOf(path string, most int64) (text []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	text, err = io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, most)
	}
	return text, err
}

// StandardOutput is the path that stands for standard output.
const StandardOutput = "-"

// A NewFile is a file that a command writes whole, which only its owner may read.
type NewFile struct {
	// Flag is what names it on the command line.
	Flag, Path string
	// Force overwrites a file that is there.
	Force bool
}

// Validate says that the file is there already, before there is anything to write.
func (f *NewFile) Validate() error {
	if f.Path == StandardOutput {
		return nil
	}
	switch is, err := os.Lstat(f.Path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case !f.Force:
		return Usagef("--%s: %s is there already; name another file, or give --force", f.Flag, f.Path)
	case err == nil && !is.Mode().IsRegular():
		return Usagef("--%s: %s is no regular file, and only those are replaced; name another file", f.Flag, f.Path)
	}
	return nil
}

// Store writes the file. What --force replaces is never written to: it may be a link, or a file
// that another user made to read what comes into it.
func (f *NewFile) Store(content []byte) error {
	const owners = 0o600
	if !f.Force {
		file, err := os.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, owners)
		if err != nil {
			return err
		}
		return fill(file, content)
	}
	file, err := os.CreateTemp(filepath.Dir(f.Path), "."+filepath.Base(f.Path)+".*") // for its owner alone, too
	if err != nil {
		return err
	}
	if err = fill(file, content); err == nil {
		err = os.Rename(file.Name(), f.Path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// fill writes a file to the disk and closes it.
func fill(file *os.File, content []byte) error {
	_, err := file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}
