package env

import (
	"bufio"
	"encoding/json"
	"os"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/stack"
)

// Observations are what the webhook's processes and the keeper report.
type Observations struct {
	*Objects
	*Names
	stack *stack.Stack
}

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
func (o *Observations) Decisions(i int) []Decision {
	o.Helper()
	file, err := os.Open(o.stack.WebhookLog(i))
	require.NoError(o, err)
	defer func() { require.NoError(o, file.Close()) }()
	var found []Decision
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line Decision
		// Another line than a decision, or one that is being written, is none.
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Message == "admission" && line.Namespace == o.Namespace {
			found = append(found, line)
		}
	}
	require.NoError(o, lines.Err())
	return found
}
