package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// sumsFile has, for each picture of sources, the sum of its sources when it was made: a line of
// hexadecimal digits, two spaces and the name.
const sumsFile = "sources.sum"

// pages is where svcat ui has its templates and its style.
const pages = "cmd/svcat/internal/ui/"

// sources are the files that decide what a picture shows, as patterns from the root of the
// repository, for pictures that cannot be compared: no two runs draw the same pixels or curves.
var sources = map[string][]string{
	"dashboard.svg":       {"deploy/monitoring/dashboard.json"},
	"ui-type.png":         {pages + "templates/layout.html", pages + "templates/shared.html", pages + "templates/type.html", pages + "assets/*"},
	"ui-types-narrow.png": {pages + "templates/layout.html", pages + "templates/shared.html", pages + "templates/types.html", pages + "assets/*"},
}

// sumOf is the sum of a picture's sources, their names included.
func sumOf(root fs.FS, name string) (string, error) {
	patterns, is := sources[name]
	if !is {
		return "", fmt.Errorf("the sources of %s are not listed", name)
	}
	sum := sha256.New()
	for _, pattern := range patterns {
		files, err := fs.Glob(root, pattern)
		if err != nil {
			return "", err
		}
		if len(files) == 0 {
			return "", fmt.Errorf("%s has no source %s", name, pattern)
		}
		for _, file := range files {
			content, err := fs.ReadFile(root, file)
			if err != nil {
				return "", err
			}
			_, _ = fmt.Fprintf(sum, "%s %d\n%s", file, len(content), content)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// readSums reads the file of sums; none where there is no file.
func readSums(file string) (map[string]string, error) {
	content, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(content)) {
		sum, name, is := strings.Cut(strings.TrimRight(line, "\n"), "  ")
		raw, err := hex.DecodeString(sum)
		if !is || err != nil || len(raw) != sha256.Size || sums[name] != "" {
			return nil, fmt.Errorf("%s: %q is no sum with a name of its own", file, line)
		}
		sums[name] = sum
	}
	return sums, nil
}

// record writes of which sources pictures were made; it leaves the sums of other pictures.
func record(root fs.FS, file string, names ...string) error {
	sums, err := readSums(file)
	if err != nil {
		return err
	}
	for _, name := range names {
		if sums[name], err = sumOf(root, name); err != nil {
			return err
		}
	}
	var lines []string
	for name, sum := range sums {
		lines = append(lines, sum+"  "+name+"\n")
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[sha256.Size*2:], b[sha256.Size*2:]) })
	return os.WriteFile(file, []byte(strings.Join(lines, "")), 0o644)
}
