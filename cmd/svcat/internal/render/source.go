package render

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// standardInput is what standard input is called among files.
const standardInput = "standard input"

// read reads the documents of all files, in the order of the command line; those of
// a folder by their names.
func (c *command) read() ([]document, error) {
	var documents []document
	for _, file := range c.files {
		found, err := c.readOne(file)
		if err != nil {
			return nil, err
		}
		documents = append(documents, found...)
	}
	return documents, nil
}

func (c *command) readOne(file string) ([]document, error) {
	if file == "-" {
		c.sayWaiting()
		text, err := io.ReadAll(c.env.In)
		if err != nil {
			return nil, fmt.Errorf("cannot read standard input: %w", err)
		}
		return split(standardInput, text)
	}
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file or folder %q", file)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %q: %w", file, err)
	}
	if !info.IsDir() {
		return readFile(file)
	}
	inside, err := c.manifests(file)
	if err != nil {
		return nil, err
	}
	var documents []document
	for _, path := range inside {
		found, err := readFile(path)
		if err != nil {
			return nil, err
		}
		documents = append(documents, found...)
	}
	return documents, nil
}

// sayWaiting says that a person at a terminal is expected to type.
func (c *command) sayWaiting() {
	in, ok := c.env.In.(*os.File)
	if !ok {
		return
	}
	if info, err := in.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		_, _ = fmt.Fprintln(c.env.ErrOut, "reading standard input; end it with Ctrl-D")
	}
}

// manifests are the files of a folder that kubectl would read.
func (c *command) manifests(folder string) ([]string, error) {
	var found []string
	// The folder itself may be a link to one.
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && !c.recursive:
			return fs.SkipDir
		case !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			found = append(found, filepath.Join(folder, path))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read folder %q: %w", folder, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("folder %q has no file whose name ends in .yaml, .yml or .json; folders inside it are read with -R", folder)
	}
	return found, nil
}

func readFile(path string) ([]document, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read %q: %w", path, err)
	}
	return split(path, text)
}
