package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFixed shows what a second run shows as the first did, and what stays as it is printed.
func TestFixed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ reason, printed, shown string }{
		"ExternalID": {"made of a UID", "ID: d2b60aff-54e1-5a1c-bd75-6633141e3a60", "ID: 5d5cd2ba-1c5b-5e0e-8f6c-2f0a3c1b7d90"},
		"PlanID":     {"the broker's", "f9a3cc8e-a6e2-474d-b032-9837ea3dfcaa", "f9a3cc8e-a6e2-474d-b032-9837ea3dfcaa"},
		"Time":       {"of this run", "@ 2026-11-22 05:26:45 +0000 UTC", "@ 2026-11-01 09:00:00 +0000 UTC"},
		"Stamp":      {"of this run", "at: 2026-11-22T12:52:02Z", "at: 2026-11-01T09:00:00Z"},
		"Port":       {"one that was free", "http://127.0.0.1:38097/v2", "http://127.0.0.1:8080/v2"},
		"Age":        {"the last column", "mydb  12s\nmydb  3s\n", "mydb  5s\nmydb  5s\n"},
		"AgeBefore":  {"the next column stays where it is", "12s   a\n3s    b", "5s    a\n5s    b"},
		"AgeMinutes": {"on a slow machine", "mydb  2m3s  x\nmydb  3m    y", "mydb  5s    x\nmydb  5s    y"},
		"Parameter":  {"no age", "backup-schedule: 1d, tls1s", "backup-schedule: 1d, tls1s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.shown, fixed(test.printed), test.reason)
		})
	}
}

// TestTerminal reads a drawing as a viewer does.
func TestTerminal(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", columns+1)
	drawn := string(terminal("a <b> & c", "$ a <b>\n\n  &\n"+long+"\n\n"))
	title, texts := read(t, drawn)
	assert.Equal(t, "a <b> & c", title)
	assert.Equal(t, []string{"$ a <b>", "  &", long[:2*columns], "é"}, texts, "a long line goes on in the next one")
	assert.Contains(t, drawn, ` width="1061" height="122" `, "as wide as the columns, as high as five lines")
	assert.Equal(t, 1, strings.Count(drawn, `class="command"`))
	assert.NotContains(t, drawn, "http://127", "it fetches nothing")
}

// read is the title of an SVG and its texts.
func read(t *testing.T, svg string) (title string, texts []string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(svg))
	in := ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return title, texts
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			in = token.Name.Local
		case xml.EndElement:
			in = ""
		case xml.CharData:
			switch in {
			case "title":
				title = string(token)
			case "text":
				texts = append(texts, string(token))
			}
		}
	}
}

// TestPicturesAreThoseOfTheScenes finds the drawings of all scenes in docs/pictures, each a whole
// document with its title.
func TestPicturesAreThoseOfTheScenes(t *testing.T) {
	t.Parallel()
	require.Len(t, scenes, 3)
	for _, scene := range scenes {
		drawn, err := os.ReadFile(filepath.Join(folder, scene.name))
		require.NoError(t, err)
		title, texts := read(t, string(drawn))
		assert.Equal(t, scene.title, title)
		for _, line := range scene.lines {
			assert.Contains(t, texts, "$ "+strings.TrimPrefix(line, fails), scene.name)
		}
	}
	drawn, err := os.ReadFile(filepath.Join(folder, graphName))
	require.NoError(t, err)
	title, _ := read(t, string(drawn))
	assert.Contains(t, title, "svcat explain mysql")
	assert.Contains(t, string(drawn), "<desc>flowchart")
	assert.NotContains(t, string(drawn), "foreignObject", "some viewers leave HTML out")
	assert.NotContains(t, string(drawn), "&amp;quot;", "quotation marks are drawn as such")
	for _, shot := range shots {
		assert.FileExists(t, filepath.Join(folder, shot.name))
	}
}

// TestCompare shows what is reported of pictures that are not current.
func TestCompare(t *testing.T) {
	t.Parallel()
	made := []picture{{"a.svg", []byte("a\nb\nc")}}
	for name, test := range map[string]struct{ kept, graph, reports string }{
		"Current": {"a\nb\nc", "a <b>", ""},
		"Changed": {"a\nc\nc", "a <b>", "docs/pictures/a.svg is not current, it lacks the line b: run make pictures"},
		"Shorter": {"a\nb", "a <b>", "docs/pictures/a.svg is not current, it lacks the line c: run make pictures"},
		"Longer":  {"a\nb\nc\nd", "a <b>", "docs/pictures/a.svg is not current, it lacks the line (its end): run make pictures"},
		"Graph":   {"a\nb\nc", "a", "docs/pictures/explain.svg is not current, svcat explain -o mermaid prints another graph: run make pictures"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(folder, "a.svg"), []byte(test.kept), 0o644))
			require.NoError(t, os.WriteFile(filepath.Join(folder, graphName), []byte("<desc>a &lt;b&gt;</desc>"), 0o644))
			err := compare(folder, made, test.graph)
			if test.reports == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, test.reports)
		})
	}
	require.Error(t, compare(t.TempDir(), made, ""), "there is none")
}
