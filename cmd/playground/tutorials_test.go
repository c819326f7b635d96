package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// tutorialsPage is the page whose commands are run, from the root of the repository.
const tutorialsPage = "docs/tutorials.md"

var updateTutorials = flag.Bool("update", false, "write what the commands of "+tutorialsPage+" print where it differs")

// A block is commands of a tutorial, and what they print if the page shows it.
type block struct {
	tutorial, commands, output string
	shown                      bool
}

// tutorialsIn are the blocks of a page that belong to a tutorial, which is a heading of
// the second level, in order.
func tutorialsIn(page string) []block {
	var blocks []block
	tutorial, fence, content := "", "", ""
	for line := range strings.Lines(page) {
		words := strings.TrimSpace(line)
		switch {
		case fence == "" && strings.HasPrefix(line, "## "):
			tutorial = strings.TrimPrefix(words, "## ")
		case fence == "" && strings.HasPrefix(line, "```"):
			fence, content = words, ""
		case fence != "" && words == "```":
			switch last := len(blocks) - 1; {
			case tutorial == "":
			case fence == "```sh":
				blocks = append(blocks, block{tutorial: tutorial, commands: content})
			case fence == "```text" && last >= 0:
				blocks[last].output, blocks[last].shown = content, true
			}
			fence = ""
		default:
			content += line
		}
	}
	return blocks
}

// refuses says that the page shows how the commands fail.
func (b block) refuses() bool {
	return strings.Contains(b.output, "Error from server") || strings.Contains(b.output, "is invalid:")
}

// matches says whether that is what the page shows: an ellipsis is any text, and as a line of
// its own any lines. The width of columns does not count.
func (b block) matches(printed string) bool {
	var pattern strings.Builder
	for line := range strings.Lines(b.output) {
		words := strings.Fields(line)
		if strings.Trim(line, " │\n") == "…" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		for i := range words {
			words[i] = strings.ReplaceAll(regexp.QuoteMeta(words[i]), "…", ".*")
		}
		pattern.WriteString(`[ \t]*` + strings.Join(words, `[ \t]+`) + `[ \t]*\n`)
	}
	return regexp.MustCompile(`^` + pattern.String() + `$`).MatchString(printed)
}

// runTutorials runs all of docs/tutorials.md on a stack that was just started. Each tutorial leaves
// the cluster and the brokers as it found them.
func runTutorials(t *testing.T, dir string) {
	t.Helper()
	root := filepath.Join("..", "..")
	content, err := os.ReadFile(filepath.Join(root, tutorialsPage))
	require.NoError(t, err)
	page := string(content)
	run := shellOf(t, root, dir)
	kinds, err := run("kubectl api-resources --api-group=servicecatalog.k8s.io -o name | paste -s -d , -")
	require.NoError(t, err, kinds)
	inventory := func() []string { return inventoryOf(t, run, strings.TrimSpace(kinds)) }
	before, blocks := inventory(), tutorialsIn(page)
	require.NotEmpty(t, blocks)
	for i, b := range blocks {
		b.rehearse(t, run)
		printed, err := run(b.commands)
		if b.refuses() {
			require.Error(t, err, "%s: the page shows a refusal of\n%s%s", b.tutorial, b.commands, printed)
		} else {
			require.NoError(t, err, "%s:\n%s%s", b.tutorial, b.commands, printed)
		}
		if b.shown && !b.matches(printed) {
			if *updateTutorials {
				page = strings.Replace(page, b.commands+"```\n\n```text\n"+b.output, b.commands+"```\n\n```text\n"+printed, 1)
			} else {
				assert.Fail(t, "the page shows something else", "%s:\n%s\nprinted:\n%s\nshown:\n%s", b.tutorial, b.commands, printed, b.output)
			}
		}
		if i+1 == len(blocks) || blocks[i+1].tutorial != b.tutorial {
			require.NoError(t, wait.Eventually(t.Context(), func() (bool, error) {
				if left := cmp.Diff(before, inventory()); left != "" {
					return false, fmt.Errorf("tutorial %q does not clean up: (-before +after)\n%s", b.tutorial, left)
				}
				return true, nil
			}))
		}
	}
	if *updateTutorials {
		require.NoError(t, os.WriteFile(filepath.Join(root, tutorialsPage), []byte(page), 0o600))
	}
}

// rehearse waits until a dry run of manifests, or a table, prints what the page shows: admission may decide
// by a cache that has not seen what the tutorial has just written, and the keeper writes the status of types
// a moment after their plans are there. If it never does, the page is wrong, and the commands themselves tell.
func (b block) rehearse(t *testing.T, run func(string) (string, error)) {
	t.Helper()
	const apply = "kubectl apply "
	for line := range strings.Lines(b.commands) {
		table := strings.HasPrefix(line, "svcat get ")
		if !table && (!strings.HasPrefix(line, apply) || strings.Contains(line, "--server-side")) {
			return
		}
	}
	if !b.shown {
		return
	}
	_ = wait.Eventually(t.Context(), func() (bool, error) {
		printed, _ := run(strings.ReplaceAll(b.commands, apply, apply+"--dry-run=server ")) // a refusal may be what is shown
		if printed = strings.ReplaceAll(printed, " (server dry run)", ""); !b.matches(printed) {
			return false, fmt.Errorf("printed: %s", printed)
		}
		return true, nil
	})
}

// timeout is a time that a tutorial waits for something.
var timeout = regexp.MustCompile(`--timeout=(\d+)s`)

// shellOf runs commands as a reader does: in the root of the repository, with the programs that
// were built and the kubeconfig of the stack.
func shellOf(t *testing.T, root, dir string) func(commands string) (string, error) {
	t.Helper()
	bin, err := filepath.Abs(binaries())
	require.NoError(t, err)
	examples := localExamples(t, root, dir)
	return func(commands string) (string, error) {
		commands = strings.ReplaceAll(commands, "playground books", "playground books --dir "+dir)
		commands = strings.ReplaceAll(commands, "docs/examples/broker", examples+"/broker")
		commands = timeout.ReplaceAllStringFunc(commands, func(found string) string {
			limit, err := time.ParseDuration(strings.TrimPrefix(found, "--timeout="))
			require.NoError(t, err)
			return "--timeout=" + wait.Patience(limit).String()
		})
		ctx, cancel := context.WithTimeout(t.Context(), wait.Patience(5*time.Minute))
		defer cancel()
		shell := exec.CommandContext(ctx, "sh", "-e", "-c", commands)
		shell.Dir = root
		shell.Env = []string{"HOME=" + dir, "KUBECONFIG=" + filepath.Join(dir, "kubeconfig"), "PATH=" + bin + ":" + os.Getenv("PATH")}
		printed, err := shell.CombinedOutput()
		return string(printed), err
	}
}

// localExamples copies the manifests, with an address on this machine for the one that nothing answers
// at: the test asks no name server.
func localExamples(t *testing.T, root, dir string) string {
	t.Helper()
	copied := filepath.Join(dir, "examples")
	require.NoError(t, os.MkdirAll(copied, 0o700))
	files, err := filepath.Glob(filepath.Join(root, "docs", "examples", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		local := strings.ReplaceAll(string(content), "https://broker.example.com", "https://127.0.0.1:1")
		require.NoError(t, os.WriteFile(filepath.Join(copied, filepath.Base(file)), []byte(local), 0o600))
	}
	return copied
}

// inventoryOf is what the cluster and the brokers have, with what a tutorial may change of it.
func inventoryOf(t *testing.T, run func(string) (string, error), kinds string) []string {
	t.Helper()
	printed, err := run(`kubectl get --all-namespaces --ignore-not-found namespaces,secrets,` + kinds + ` \
		-o jsonpath='{range .items[*]}{.kind}/{.metadata.namespace}/{.metadata.name} {.metadata.labels} {.metadata.annotations.servicecatalog\.kubernetes\.io/is-default-plan} {.spec.defaultPlanRef}{"\n"}{end}'
		playground books`)
	require.NoError(t, err, printed)
	return strings.Split(printed, "\n")
}

func TestTutorialsAreRead(t *testing.T) {
	t.Parallel()
	page := "```sh\nmake up\n```\n## One\n```sh\na\n```\n\n```text\nb  c\n…\nd… e\n```\n```yaml\nx: y\n```\n## Two\n```sh\nf\n```\n"
	one := block{tutorial: "One", commands: "a\n", output: "b  c\n…\nd… e\n", shown: true}
	assert.Equal(t, []block{one, {tutorial: "Two", commands: "f\n"}}, tutorialsIn(page))
	for printed, want := range map[string]bool{
		"b c\nd e\n": true, "  b c  \nx\ny\nd1   e\n": true,
		"b c\n": false, "b c d\nd e\n": false, "b c\nd e\nx\n": false, "x\nb c\nd e\n": false, "bc\nd e\n": false,
	} {
		assert.Equal(t, want, one.matches(printed), printed)
	}
	assert.False(t, one.refuses())
	assert.True(t, block{output: `The ServiceInstance "a" is invalid: spec` + "\n"}.refuses())
}
