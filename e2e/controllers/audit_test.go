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
func (e *testEnv) requestsOf(user string) []request {
	e.Helper()
	file, err := os.Open(e.AuditLog())
	require.NoError(e, err)
	defer func() { require.NoError(e, file.Close()) }()
	var found []request
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var line request
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Stage != "ResponseStarted" && line.User.Username == user {
			found = append(found, line)
		}
	}
	require.NoError(e, lines.Err())
	return found
}

// writesOf are what a user wrote to objects of this test, as "patch KIND NAME".
func (e *testEnv) writesOf(user string) []string {
	e.Helper()
	var writes []string
	for _, r := range e.requestsOf(user) {
		if slices.Contains([]string{"create", "update", "patch", "delete"}, r.Verb) && strings.Contains(r.ObjectRef.Name, e.Suffix) {
			writes = append(writes, r.Verb+" "+r.ObjectRef.Resource+" "+r.ObjectRef.Name)
		}
	}
	return writes
}
