package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// maxFile is how many bytes of a file are read: nothing that a flag stands for may be
// as large.
const maxFile = 4 << 20

// ReadFile reads what a flag names. A file without an end, such as /dev/zero, is an
// error too.
func ReadFile(path string) (text []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	text, err = io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	return text, err
}
