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
			if inside = names(heading, version); inside && strings.Contains(strings.ToLower(heading), "unreleased") {
				return "", fmt.Errorf("CHANGELOG.md calls %s unreleased: date its heading, such as %q", version, "## "+version+" (2026-12-31)")
			}
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
	// On a release's page a link that starts at the root of the project leads nowhere.
	return strings.ReplaceAll(text, "](docs/", "]("+project+"/blob/"+version+"/docs/") + "\n", nil
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
