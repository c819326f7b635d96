package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Policy logs each request of webhook, keeper and controller.
const Policy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  users:
  - system:serviceaccount:defaultplan-system:defaultplan-webhook
  - system:serviceaccount:defaultplan-system:defaultplan-keeper
  - system:serviceaccount:defaultplan-system:defaultplan-controller
- level: None
`

// A Key is a kind of requests: who asked, without the prefix that all three have, and for what.
type Key struct{ User, Verb, Resource string }

// All is true.
func All(Key) bool { return true }

// Stores says whether it is a write that is stored, but for those of Leases.
func (k Key) Stores() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, k.Verb) &&
		k.Resource != "leases" && !strings.HasSuffix(k.Resource, "reviews")
}

// Requests are how many there were of each kind.
type Requests map[Key]float64

// Count is how many there were of the kinds that count.
func (r Requests) Count(counts func(Key) bool) float64 {
	total := 0.0
	for key, n := range r {
		if counts(key) {
			total += n
		}
	}
	return total
}

// Per lists the kinds, the most frequent first, with how many there were a second.
func (r Requests) Per(seconds float64) string {
	keys := make([]Key, 0, len(r))
	for key := range r {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b Key) int {
		if r[a] != r[b] {
			return int(r[b] - r[a])
		}
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
	all := make([]string, len(keys))
	for i, key := range keys {
		all[i] = fmt.Sprintf("%s %s %s %.2f/s", key.User, key.Verb, key.Resource, r[key]/seconds)
	}
	return strings.Join(all, ", ")
}

// Since counts the requests that a log has behind an offset.
func Since(log string, offset int64) (Requests, error) {
	file, err := os.Open(log)
	if err != nil {
		return nil, fmt.Errorf("cannot read the audit log: %w", err)
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.NewSectionReader(file, offset, 1<<62))
	if err != nil {
		return nil, fmt.Errorf("cannot read the audit log: %w", err)
	}
	return read(content), nil
}

func read(content []byte) Requests {
	counted := Requests{}
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, len(content)+1)
	for lines.Scan() {
		var event struct {
			Verb      string
			User      struct{ Username string }
			ObjectRef struct{ Resource, Subresource string }
		}
		if json.Unmarshal(lines.Bytes(), &event) != nil {
			continue // the last line may be unfinished
		}
		user := event.User.Username[strings.LastIndex(event.User.Username, "-")+1:]
		resource := strings.TrimSuffix(event.ObjectRef.Resource+"/"+event.ObjectRef.Subresource, "/")
		counted[Key{user, event.Verb, resource}]++
	}
	return counted
}
