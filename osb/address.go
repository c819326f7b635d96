package osb

import (
	"encoding/json"
	"net/url"
	"strings"
)

// escape makes one path segment or one query value out of any text. All but the
// unreserved characters of RFC 3986 are encoded, and so are the dots of "." and "..",
// which would otherwise walk up the path.
func escape(text string) string {
	if text == "." || text == ".." {
		return strings.ReplaceAll(text, ".", "%2E")
	}
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}

func instancePath(instanceID string) string {
	return "/v2/service_instances/" + escape(instanceID)
}

func bindingPath(instanceID, bindingID string) string {
	return instancePath(instanceID) + "/service_bindings/" + escape(bindingID)
}

// A query is a list of escaped pairs, in the order in which they are sent.
type query []string

// async begins the query of every changing request: the broker may answer it asynchronously.
func async() query { return query{"accepts_incomplete=true"} }

// with adds a value unless it is empty.
func (q query) with(name, value string) query {
	if value == "" {
		return q
	}
	return append(q, name+"="+escape(value))
}

// String is the query with its question mark, or nothing.
func (q query) String() string {
	if len(q) == 0 {
		return ""
	}
	return "?" + strings.Join(q, "&")
}

// given is nil for parameters that say nothing: none, or the null that an empty map
// becomes in JSON.
func given(parameters json.RawMessage) json.RawMessage {
	text := strings.TrimSpace(string(parameters))
	if text == "" || text == "null" {
		return nil
	}
	return json.RawMessage(text)
}

// A version is the body's maintenance_info; nil where it is not sent, because brokers
// refuse an empty one.
type version struct {
	Version string `json:"version"`
}

func maintenance(text string) *version {
	if text == "" {
		return nil
	}
	return &version{Version: text}
}
