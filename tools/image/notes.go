package main

import (
	"fmt"
	"strings"
)

// notesOf is the section of a version in a changelog, without its heading.
func notesOf(changelog, version string) (string, error) {
	var notes strings.Builder
	inside := false
	for line := range strings.Lines(changelog) {
		if heading, is := strings.CutPrefix(line, "## "); is {
			if inside {
				break
			}
			inside = names(heading, version)
			continue
		}
		if inside {
			notes.WriteString(line)
		}
	}
	text := strings.TrimSpace(notes.String())
	if text == "" {
		return "", fmt.Errorf("CHANGELOG.md says nothing of %s: give it a section with a heading such as %q", version, "## "+version+" (2026-12-31)")
	}
	return text + "\n", nil
}

// names says whether a heading has a version among its words.
func names(heading, version string) bool {
	for word := range strings.FieldsSeq(heading) {
		if strings.Trim(word, "()[],") == version {
			return true
		}
	}
	return false
}
