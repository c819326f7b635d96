// Package files reads the manifests that render and diff are given by -f.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/manifest"
)

// maxFile is how many bytes a file may have, and standard input: a file of a pull request may be a
// link to one without an end.
const maxFile = 64 << 20

// Files are those that a command reads manifests from: -f and -R.
type Files struct {
	Names     []string
	Recursive bool
	Reader    manifest.Reader
}

// Bind adds the flags.
func (f *Files) Bind(flags *pflag.FlagSet) {
	flags.StringSliceVarP(&f.Names, "filename", "f", nil, "Files and folders to read; - is standard input")
	flags.BoolVarP(&f.Recursive, "recursive", "R", false, "Read the folders inside folders, too")
}

// Validate says what is wrong with the flags of a command.
func (f *Files) Validate(command string) error {
	if len(f.Names) == 0 {
		return cli.Usagef("%s needs files: -f FILE, -f FOLDER or -f - for standard input", command)
	}
	stdin := 0
	for _, name := range f.Names {
		if name == "-" {
			stdin++
		}
	}
	if stdin > 1 {
		return cli.Usagef("standard input can be read only once: -f - is given %d times", stdin)
	}
	return nil
}

// Read reads the documents of all files, in the order of the command line; those of
// a folder by their names.
func (f *Files) Read(env *cli.Env) ([]manifest.Document, error) {
	var documents []manifest.Document
	for _, file := range f.Names {
		found, err := f.readOne(env, file)
		if err != nil {
			return nil, err
		}
		documents = append(documents, found...)
	}
	return documents, nil
}

func (f *Files) readOne(env *cli.Env, file string) ([]manifest.Document, error) {
	if file == "-" {
		sayWaiting(env)
		text, err := io.ReadAll(io.LimitReader(env.In, maxFile+1))
		if err == nil && len(text) > maxFile {
			err = fmt.Errorf("it is larger than %d bytes", maxFile)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read standard input: %w", err)
		}
		return f.Reader.Split(manifest.StandardInput, text)
	}
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file or folder %q", file)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %q: %w", file, err)
	}
	if !info.IsDir() {
		return f.readFile(file)
	}
	inside, err := f.inside(file)
	if err != nil {
		return nil, err
	}
	var documents []manifest.Document
	for _, path := range inside {
		found, err := f.readFile(path)
		if err != nil {
			return nil, err
		}
		documents = append(documents, found...)
	}
	return documents, nil
}

// sayWaiting says that a person at a terminal is expected to type.
func sayWaiting(env *cli.Env) {
	if _, is := env.In.(*os.File); is && env.Interactive() {
		_, _ = fmt.Fprintln(env.ErrOut, "reading standard input; end it with Ctrl-D")
	}
}

// inside are the files of a folder that kubectl would read.
func (f *Files) inside(folder string) ([]string, error) {
	var found []string
	// The folder itself may be a link to one.
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && !f.Recursive:
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

func (f *Files) readFile(path string) ([]manifest.Document, error) {
	text, err := cli.ReadFileOf(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read %q: %w", path, err)
	}
	return f.Reader.Split(path, text)
}
