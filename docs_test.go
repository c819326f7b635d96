package defaultplan_test

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	// inlineLink is what a link leads to, and footLink what one at the foot of a
	// document does.
	inlineLink = regexp.MustCompile(`\]\(<?([^)<>\s]+)>?(?:\s+"[^"]*")?\)`)
	footLink   = regexp.MustCompile(`(?m)^ {0,3}\[[^\]]+\]:\s+<?([^<>\s]+)>?`)
	heading    = regexp.MustCompile(`^ {0,3}#{1,6}\s+(.+?)(?:\s+#+)?\s*$`)
	htmlAnchor = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
	// picture is one that a page shows, with its text.
	picture = regexp.MustCompile(`!\[([^\]]*)\]\(([^)\s]+)\)`)
	// codeSpan is code within a paragraph, in which nothing is a link.
	codeSpan = regexp.MustCompile("`[^`]*`")
	// linkText is what is shown of a link; unheard is what GitHub leaves out of the
	// anchor of a heading.
	linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	unheard  = regexp.MustCompile(`[^\p{L}\p{M}\p{N}_ -]`)
	// makeSpan is a make in a code span, makeLine one of a line of indented code: at its start,
	// after a prompt, or as the last words of what a program says.
	makeSpan = regexp.MustCompile("`make((?:\\s+[^`\\s]+)*)`")
	makeLine = regexp.MustCompile(`(?m)^ {4,}(?:\$ |.*: )?make((?: [a-z][\w/-]*)+)`)
	// shellBlock is a block of commands, makeCommand a make in it.
	shellBlock  = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	makeCommand = regexp.MustCompile(`(?m)^make((?: [a-z][\w/-]*)+)`)
	// pathSpan is a code span that is a path: with a slash, or the name of a file in Go.
	pathSpan = regexp.MustCompile("`([a-z][\\w.-]*(?:/[\\w./-]+|\\.go))`")
	// oddWord is a word with a plainer one for it.
	oddWord = regexp.MustCompile(`(?i)\b(?:whoever|anew|somebody|nobody)\b`)
	target  = regexp.MustCompile(`(?m)^([\w./ -]+):(?:[^=]|$)`)
)

// TestDocumentsLeadSomewhere holds the documents to their links, and to the targets
// of the Makefile.
func TestDocumentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	root := os.DirFS(".")
	for _, name := range documents(t, root) {
		assert.Empty(t, brokenIn(t, root, name), name)
	}
}

// documents are the names of the pages: those of the root, and all of docs.
func documents(t *testing.T, root fs.FS) []string {
	t.Helper()
	names := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"}
	require.NoError(t, fs.WalkDir(root, "docs", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && path.Ext(name) == ".md" {
			names = append(names, name)
		}
		return err
	}))
	require.Greater(t, len(names), 20, "the documents were found")
	return names
}

// TestPicturesAreShown holds docs/pictures to the pages: each picture is shown, with a text for
// readers who do not see it, and is small.
func TestPicturesAreShown(t *testing.T) {
	t.Parallel()
	const most = 150_000
	root := os.DirFS(".")
	shown := map[string]bool{}
	for _, name := range documents(t, root) {
		for _, match := range picture.FindAllStringSubmatch(readDocument(t, root, name), -1) {
			assert.Greater(t, len(match[1]), 20, "%s: what does %s show?", name, match[2])
			shown[path.Join(path.Dir(name), match[2])] = true
		}
	}
	pictures, err := fs.Glob(root, "docs/pictures/*")
	require.NoError(t, err)
	require.Greater(t, len(pictures), 4, "the pictures were found")
	for _, name := range pictures {
		assert.True(t, shown[name], "no page shows %s", name)
		info, err := fs.Stat(root, name)
		require.NoError(t, err)
		assert.LessOrEqual(t, info.Size(), int64(most), name)
	}
}

// TestReadmeIsAPage keeps README.md to what a visitor needs first.
func TestReadmeIsAPage(t *testing.T) {
	t.Parallel()
	const most = 180
	content, err := os.ReadFile("README.md")
	require.NoError(t, err)
	assert.LessOrEqual(t, strings.Count(string(content), "\n"), most, "move what another page can say")
}

// TestDocumentsUsePlainWords keeps words out that the documentation of Kubernetes does not
// use. Code is what programs print. docs/api.md and docs/svcat.md are generated from
// comments and from the help of flags.
func TestDocumentsUsePlainWords(t *testing.T) {
	t.Parallel()
	root := os.DirFS(".")
	for _, name := range documents(t, root) {
		if name != "docs/api.md" && name != "docs/svcat.md" {
			assert.Empty(t, oddWords(readDocument(t, root, name)), name)
		}
	}
	assert.Equal(t, []string{"Whoever", "anew", "nobody"}, oddWords("Whoever asks\nanew, nobody's.\n\n    somebody\n\n`--nobody`, canewood"))
}

// oddWords are the words of a document's prose that are to be said otherwise.
func oddWords(text string) []string {
	var prose strings.Builder
	for line := range strings.Lines(proseOf(text)) {
		if !strings.HasPrefix(line, "    ") {
			prose.WriteString(line)
		}
	}
	return oddWord.FindAllString(prose.String(), -1)
}

// TestCommandsCanBeCopied: a block of commands has no prompt and no output, so that all of it can
// be pasted into a shell. What a program printed, with the commands that it ran, is a block marked
// console.
func TestCommandsCanBeCopied(t *testing.T) {
	t.Parallel()
	root := os.DirFS(".")
	for _, name := range documents(t, root) {
		content, err := fs.ReadFile(root, name)
		require.NoError(t, err)
		assert.Empty(t, promptsIn(string(content)), name)
	}
	assert.Equal(t, []string{"    $ a", "$ b", "$ c"}, promptsIn("    $ a\n```sh\n$ b\n```\n```\n$ c\n```\n```console\n$ d\n```\n```sh\ne $ f\n```\n"))
}

// promptsIn are the lines with a prompt that are in no block marked console.
func promptsIn(text string) []string {
	var lines []string
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case fence != "" && line == "```":
			fence = ""
		case fence == "" && strings.HasPrefix(line, "```"):
			fence = line
		case fence != "```console" && (fence != "" || strings.HasPrefix(line, "    ")) && strings.HasPrefix(strings.TrimSpace(line), "$ "):
			lines = append(lines, line)
		}
	}
	return lines
}

// TestIndexHasEveryPage holds docs/README.md to the pages that there are.
func TestIndexHasEveryPage(t *testing.T) {
	t.Parallel()
	index := readDocument(t, os.DirFS("."), "docs/README.md")
	pages, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" {
			assert.Contains(t, index, "]("+name+")", "docs/README.md does not list it")
		}
	}
}

// TestExamplesAreTried: the tutorials, all of whose commands a test of cmd/playground runs, apply
// every manifest of docs/examples.
func TestExamplesAreTried(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/tutorials.md")
	require.NoError(t, err)
	files, err := filepath.Glob("docs/examples/*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	commands := strings.Join(shellBlock.FindAllString(string(page), -1), "\n")
	for _, file := range files {
		assert.Regexp(t, `(?m)^kubectl apply .*-f `+regexp.QuoteMeta(file)+`\b`, commands)
	}
}

// TestArchitectureNamesFilesThatExist holds docs/architecture.md to the tree: a path in a code
// span is a file or a folder.
func TestArchitectureNamesFilesThatExist(t *testing.T) {
	t.Parallel()
	root := os.DirFS(".")
	page := readDocument(t, root, "docs/architecture.md")
	assert.Empty(t, missingPaths(root, page))
	assert.Equal(t, []string{"webhook/none.go", "none.go"}, missingPaths(root, "`webhook/none.go`, `docs_test.go`, `none.go`, `serviceType: mysql` and `svcat explain`"))
	assert.Greater(t, len(pathSpan.FindAllString(page, -1)), 40, "the paths are found")
}

// missingPaths are the paths in code spans of a text that the tree does not have.
func missingPaths(root fs.FS, text string) []string {
	var missing []string
	for _, match := range pathSpan.FindAllStringSubmatch(text, -1) {
		if _, err := fs.Stat(root, match[1]); err != nil {
			missing = append(missing, match[1])
		}
	}
	return missing
}

// TestLinksCanBeBroken shows the check at work: which links are held to lead nowhere, and
// which makes to have no target.
func TestLinksCanBeBroken(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		text   string
		broken []string
	}{
		"File":         {reason: "there is none", text: "[a](none.md)", broken: []string{"none.md"}},
		"Outside":      {reason: "of the checkout", text: "[a](../../b.md)", broken: []string{"../../b.md"}},
		"OfCode":       {reason: "a link whose text is code", text: "`a\nb` [`c`](none.md) `d`", broken: []string{"none.md"}},
		"Anchor":       {reason: "no such heading", text: "[a](b.md#none)", broken: []string{"b.md#none"}},
		"AnchorOfCode": {reason: "a comment in code is no heading", text: "[a](b.md#a-comment)", broken: []string{"b.md#a-comment"}},
		"OwnAnchor":    {reason: "of the document itself", text: "# A\n[a](#a) [b](#b)", broken: []string{"#b"}},
		"AtTheFoot":    {reason: "links may stand there", text: "[a][1]\n\n[1]: none.md", broken: []string{"none.md"}},
		"Target":       {reason: "no such target", text: "`make none`", broken: []string{"make none"}},
		"SecondTarget": {reason: "over two lines, and not the first", text: "`make up\nnone A=b`", broken: []string{"make none"}},
		"TargetInCode": {reason: "as a command", text: "do\n\n    make none", broken: []string{"make none"}},
		"TargetFenced": {reason: "in a block of commands", text: "```sh\nmake up\nmake none A=b\n```", broken: []string{"make none"}},
		"TargetSaid":   {reason: "as the advice of a program", text: "do\n\n    End it: make none", broken: []string{"make none"}},
		"Kept": {
			reason: "what leads somewhere: files, folders, headings with marks, a second heading of one text, other sites, code",
			text: "[a](b.md) [b](../docs/) [c](b.md#a-b-and-code_d) [d](b.md#twice-1) [e](https://a.example/none) [f](b.md#by-hand)\n" +
				"```\n[a](none.md)\n```\n`[a](none.md)`, `make up`, `make bin/one A=b`, to make none\n\n    make up\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := fstest.MapFS{
				"Makefile":  {Data: []byte("A := b\nC ?= d\nup: a ## Start\nbin/one bin/two:\n\tgo build\n")},
				"docs/a.md": {Data: []byte(test.text)},
				"docs/b.md": {Data: []byte("# A, B [and](a.md) `code_d`\n## Twice\n## Twice\n```\n# A comment\n```\n<a id=\"by-hand\"></a>\n")},
			}
			assert.Equal(t, test.broken, brokenIn(t, root, "docs/a.md"), test.reason)
		})
	}
}

// brokenIn are the relative links of a document that lead nowhere, and the targets that
// it names and the Makefile does not have.
func brokenIn(t *testing.T, root fs.FS, name string) []string {
	t.Helper()
	text := readDocument(t, root, name)
	prose := proseOf(text)
	var broken []string
	for _, match := range slices.Concat(inlineLink.FindAllStringSubmatch(prose, -1), footLink.FindAllStringSubmatch(prose, -1)) {
		link, err := url.Parse(match[1])
		require.NoError(t, err, name)
		if link.Scheme == "" && !leads(t, root, name, link) {
			broken = append(broken, match[1])
		}
	}
	targets := targetsOf(t, root)
	content, err := fs.ReadFile(root, name)
	require.NoError(t, err)
	commands := strings.Join(shellBlock.FindAllString(string(content), -1), "\n")
	for _, match := range slices.Concat(makeSpan.FindAllStringSubmatch(text, -1), makeLine.FindAllStringSubmatch(text, -1), makeCommand.FindAllStringSubmatch(commands, -1)) {
		for word := range strings.FieldsSeq(match[1]) {
			if !strings.Contains(word, "=") && !slices.Contains(targets, word) {
				broken = append(broken, "make "+word)
			}
		}
	}
	return broken
}

// proseOf is a document without its code spans, each of which is in one paragraph.
func proseOf(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for at := range paragraphs {
		paragraphs[at] = codeSpan.ReplaceAllString(paragraphs[at], "")
	}
	return strings.Join(paragraphs, "\n\n")
}

// leads says whether a link of a document leads to a file, a folder or a heading.
func leads(t *testing.T, root fs.FS, from string, link *url.URL) bool {
	t.Helper()
	to := from
	if link.Path != "" {
		to = path.Join(path.Dir(from), link.Path)
	}
	if _, err := fs.Stat(root, to); err != nil {
		return false
	}
	return link.Fragment == "" || path.Ext(to) == ".md" && slices.Contains(anchorsOf(readDocument(t, root, to)), link.Fragment)
}

// anchorsOf are the anchors that GitHub gives to the headings of a document, and those
// that it has in HTML.
func anchorsOf(text string) []string {
	var anchors []string
	seen := map[string]int{}
	for line := range strings.Lines(text) {
		for _, match := range htmlAnchor.FindAllStringSubmatch(line, -1) {
			anchors = append(anchors, match[1])
		}
		match := heading.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if match == nil {
			continue
		}
		shown := strings.ToLower(linkText.ReplaceAllString(match[1], "$1"))
		anchor := strings.ReplaceAll(unheard.ReplaceAllString(shown, ""), " ", "-")
		if times := seen[anchor]; times > 0 {
			anchors = append(anchors, fmt.Sprintf("%s-%d", anchor, times))
		} else {
			anchors = append(anchors, anchor)
		}
		seen[anchor]++
	}
	return anchors
}

// readDocument reads a document without its fences: what is in them is no link and no
// heading.
func readDocument(t *testing.T, root fs.FS, name string) string {
	t.Helper()
	content, err := fs.ReadFile(root, name)
	require.NoError(t, err)
	var kept strings.Builder
	fenced := false
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
			fenced = !fenced
		} else if !fenced {
			kept.WriteString(line)
		}
	}
	require.False(t, fenced, "%s: a fence is not closed", name)
	return kept.String()
}

// targetsOf are the targets of the Makefile.
func targetsOf(t *testing.T, root fs.FS) []string {
	t.Helper()
	content, err := fs.ReadFile(root, "Makefile")
	require.NoError(t, err)
	var targets []string
	for _, match := range target.FindAllStringSubmatch(string(content), -1) {
		targets = append(targets, strings.Fields(match[1])...)
	}
	require.NotEmpty(t, targets)
	return targets
}
