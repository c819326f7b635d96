package moving_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

var (
	// shown is what a command of the page prints.
	shown = regexp.MustCompile("(?ms)^```\n(.*?)^```$")
	// lookAt is a command that reads the old side.
	lookAt = regexp.MustCompile(`(?m)^ +kubectl get .*$`)
	// gaps and rules are between the columns and rows of a table, whose widths depend on the names.
	gaps, rules = regexp.MustCompile(` {2,}`), regexp.MustCompile(`(?m)^\+[+-]+$`)
)

// TestThePage compares what the commands of docs/moving.md print with the page.
func TestThePage(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "moving.md"))
	require.NoError(t, err)
	h := newHouse(t, []instance{
		{name: "orders", class: "open", state: "Ready", parameters: `{"size":1}`, secret: `{"token":"canary-of-parameters"}`, moved: "Adopted"},
		{name: "queue", class: "shut", state: "Ready", moved: "AdoptedOnTrust"},
		{name: "growing", class: "open", state: "Provisioning", why: "operation"},
	}, []binding{
		{name: "orders-reader", instance: "orders", state: "Ready", moved: "Adopted"},
		{name: "queue-writer", instance: "queue", state: "Ready", moved: "AdoptedOnTrust"},
	})
	h.looksBefore(string(content))
	var blocks []string
	for _, block := range shown.FindAllStringSubmatch(string(content), -1) {
		blocks = append(blocks, withoutWidths(block[1]))
	}
	file := h.file("shop.age")
	importing := []string{"import", file, "--identity", h.file("move.key")}
	var printed []string
	for _, step := range [][]string{
		{"export", "-o", file, "--with-secrets", "--recipient", h.identity("move.key")},
		append(importing, "--dry-run"),
		importing,
		{"export", "--release", file, "--identity", h.file("move.key"), "--to-kubeconfig", h.Kubeconfig()},
	} {
		side := h.old
		if step[0] == "import" {
			side = h.Env
		}
		got := h.run(side, step...)
		printed = append(printed, h.asOnThePage(got.Stdout))
		t.Logf("svcat %v: %s", step, got.Stderr)
	}
	assert.Equal(t, blocks, printed, "the page shows what is printed")
}

// looksBefore runs the commands by which a reader looks at the old side.
func (h *house) looksBefore(page string) {
	h.Helper()
	h.old.Create(&corev1.ConfigMap{ObjectMeta: h.old.Meta("cluster-info"), Data: map[string]string{"id": "old-cluster"}})
	var printed strings.Builder
	looks := lookAt.FindAllString(page, -1)
	require.Len(h, looks, 2)
	for _, look := range looks {
		command := exec.CommandContext(h.Context(), "/bin/sh", "-c", look)
		command.Env, command.Stdout = h.old.Environment(), &printed
		require.NoError(h, command.Run(), look)
	}
	assert.Contains(h, printed.String(), "ServiceInstance "+h.old.Namespace+"/growing Provision\n")
	assert.Contains(h, printed.String(), h.old.Namespace+" old-cluster\n")
}

// asOnThePage is what was printed with the names of the page.
func (h *house) asOnThePage(text string) string {
	return withoutWidths(strings.NewReplacer(h.Namespace, "shop", "-"+h.Suffix, "", h.dir+"/", "", h.cluster.URL, "https://broker.example").Replace(text))
}

// withoutWidths is a table whose columns are as narrow as can be.
func withoutWidths(table string) string {
	return gaps.ReplaceAllString(rules.ReplaceAllString(table, "+--+"), "  ")
}
