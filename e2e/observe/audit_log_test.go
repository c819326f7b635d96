package observe_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/e2e/env"
)

// An auditEvent is a line of the API server's audit log, of level Metadata: who
// asked for what, and what admission says of it.
type auditEvent struct {
	Verb      string `json:"verb"`
	Stage     string `json:"stage"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
	Annotations map[string]string `json:"annotations"`
}

// audited are the completed requests about instances in the namespace, in
// their order. The log is written before the answer is sent.
func audited(e *env.Env) []auditEvent {
	e.Helper()
	file, err := os.Open(e.AuditLog())
	require.NoError(e, err)
	defer func() { require.NoError(e, file.Close()) }()
	var found []auditEvent
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var line auditEvent
		if json.Unmarshal(lines.Bytes(), &line) != nil || line.Stage != "ResponseComplete" {
			continue
		}
		if line.ObjectRef.Resource == "serviceinstances" && line.ObjectRef.Namespace == e.Namespace {
			found = append(found, line)
		}
	}
	require.NoError(e, lines.Err())
	return found
}

// ours are the annotations of our hooks, without the hooks' names before them.
func (e auditEvent) ours(hook string) map[string]string {
	found := map[string]string{}
	for key, value := range e.Annotations {
		if key, ok := strings.CutPrefix(key, hook+".serviceinstances.servicecatalog.k8s.io/"); ok {
			found[key] = value
		}
	}
	return found
}
