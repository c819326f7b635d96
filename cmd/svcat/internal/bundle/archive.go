package bundle

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// folder is where the files of an archive are.
const folder = "svcat-bundle"

// A file is one of an archive.
type file struct {
	name, about string
	content     []byte
}

// An Archive is what was collected.
type Archive struct {
	files []file
	// missing says of what could not be read why, a line each.
	missing []string
	at      time.Time
}

// add adds a value as JSON.
func (a *Archive) add(name, about string, value any) {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		a.lack(name, err)
		return
	}
	a.files = append(a.files, file{name, about, append(text, '\n')})
}

// lack notes that something could not be read.
func (a *Archive) lack(what string, err error) {
	reason, _, _ := strings.Cut(err.Error(), "\n")
	a.missing = append(a.missing, what+": "+cli.WithoutCredentials(reason))
}

// Summary says in a sentence what the archive has.
func (a *Archive) Summary() string {
	text := fmt.Sprintf("%d files", len(a.files)+1)
	if len(a.missing) > 0 {
		text += fmt.Sprintf("; %d things could not be read, README.txt lists them", len(a.missing))
	}
	return text
}

// Write writes the archive as .tar.gz, its index first.
func (a *Archive) Write(w io.Writer) error {
	compressed := gzip.NewWriter(w)
	archive := tar.NewWriter(compressed)
	for _, f := range append([]file{{name: "README.txt", content: []byte(a.index())}}, a.files...) {
		header := &tar.Header{Name: path.Join(folder, f.name), Mode: 0o600, Size: int64(len(f.content)), ModTime: a.at, Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(header); err != nil {
			return fmt.Errorf("cannot write the bundle: %w", err)
		}
		if _, err := archive.Write(f.content); err != nil {
			return fmt.Errorf("cannot write the bundle: %w", err)
		}
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		return fmt.Errorf("cannot write the bundle: %w", err)
	}
	return nil
}

// leftOut is what no bundle has, and why.
const leftOut = `Left out on purpose, because it may hold what is secret:
  - parameters (spec.parameters, parametersFrom, what was sent to brokers), of every object
  - values in Secrets and ConfigMaps: only names, types, names of keys, and how long certificates hold
  - annotations, labels and metadata that brokers and people wrote, such as last-applied-configuration
  - addresses of brokers, which may hold a user name, a password or a token
  - messages of conditions and events: they may quote what a broker answered. Reasons are there,
    and so are the names that brokers gave to classes and plans
  - values of environment variables, and of flags whose name says that they are secret; of addresses
    in other flags all but scheme and host
  - caBundle of webhooks: only how long its certificates hold
  - logs of processes: read them before you send them
`

// index is README.txt.
func (a *Archive) index() string {
	text := &strings.Builder{}
	fmt.Fprintf(text, "What svcat check --bundle collected at %s\n\nFiles:\n", a.at.UTC().Format(time.RFC3339))
	for _, f := range a.files {
		fmt.Fprintf(text, "  %-34s %s\n", f.name, f.about)
	}
	text.WriteString("\n" + leftOut + "\nCould not be read:\n")
	for _, line := range a.missing {
		text.WriteString("  - " + line + "\n")
	}
	if len(a.missing) == 0 {
		text.WriteString("  nothing: all of it could be read\n")
	}
	return text.String()
}
