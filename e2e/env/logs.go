package env

import (
	"bufio"
	"encoding/json"
	"os"

	"github.com/stretchr/testify/require"
)

// A Decision is a log line of a webhook process about one admission request.
type Decision struct {
	Message   string `json:"msg"`
	Phase     string `json:"phase"`
	Operation string `json:"operation"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	User      string `json:"user"`
	Client    string `json:"client"`
	DryRun    bool   `json:"dryRun"`
	Rule      string `json:"rule"`
	Plan      string `json:"plan"`
	Outcome   string `json:"outcome"`
}

// Decisions are those that webhook process i, counted from 0, logged about the
// namespace, in their order.
func (e *Env) Decisions(i int) []Decision {
	e.Helper()
	file, err := os.Open(e.WebhookLog(i))
	require.NoError(e, err)
	defer func() { require.NoError(e, file.Close()) }()
	var found []Decision
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line Decision
		// Another line than a decision, or one that is being written, is none.
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Message == "admission" && line.Namespace == e.Namespace {
			found = append(found, line)
		}
	}
	require.NoError(e, lines.Err())
	return found
}
