package controllers_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// A request is a line of the API server's audit log: who asked for what, and what it said.
type request struct {
	Verb  string `json:"verb"`
	Stage string `json:"stage"`
	User  struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
}

// requestsOf are the requests of a user, of kinds of ours, that were answered.
func (w *world) requestsOf(user string) []request {
	w.Helper()
	file, err := os.Open(w.AuditLog())
	require.NoError(w, err)
	defer func() { require.NoError(w, file.Close()) }()
	var found []request
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var line request
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Stage != "ResponseStarted" && line.User.Username == user {
			found = append(found, line)
		}
	}
	require.NoError(w, lines.Err())
	return found
}

// writesOf are what a user wrote to objects of this test, as "patch KIND NAME".
func (w *world) writesOf(user string) []string {
	w.Helper()
	var writes []string
	for _, r := range w.requestsOf(user) {
		if slices.Contains([]string{"create", "update", "patch", "delete"}, r.Verb) && strings.Contains(r.ObjectRef.Name, w.suffix) {
			writes = append(writes, r.Verb+" "+r.ObjectRef.Resource+" "+r.ObjectRef.Name)
		}
	}
	return writes
}
