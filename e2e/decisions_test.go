package e2e_test

import (
	"bufio"
	"encoding/json"
	"os"

	"github.com/stretchr/testify/require"
)

// A decision is a log line of a webhook process about one admission request.
type decision struct {
	Message   string `json:"msg"`
	Phase     string `json:"phase"`
	Operation string `json:"operation"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	User      string `json:"user"`
	DryRun    bool   `json:"dryRun"`
	Rule      string `json:"rule"`
	Plan      string `json:"plan"`
	Outcome   string `json:"outcome"`
}

// decisions are those that webhook process i, counted from 0, logged about the
// world's namespace, in their order.
func (w *world) decisions(i int) []decision {
	w.Helper()
	file, err := os.Open(w.WebhookLog(i))
	require.NoError(w, err)
	defer func() { require.NoError(w, file.Close()) }()
	var found []decision
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line decision
		// Another line than a decision, or one that is being written, is none.
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Message == "admission" && line.Namespace == w.namespace {
			found = append(found, line)
		}
	}
	require.NoError(w, lines.Err())
	return found
}

// decidedBy counts, for each of both webhook processes, the creations in the
// world's namespace that it decided by rule.
func (w *world) decidedBy(rule string) [2]int {
	w.Helper()
	var counts [2]int
	for i := range counts {
		for _, line := range w.decisions(i) {
			if line.Phase == "mutate" && line.Operation == "CREATE" && line.Rule == rule && line.Outcome == "allowed" {
				counts[i]++
			}
		}
	}
	return counts
}
