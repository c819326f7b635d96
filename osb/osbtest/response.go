package osbtest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A response is what the broker is about to send.
type response struct {
	status int
	// body is sent as JSON; nil with no text: {}.
	body map[string]any
	// text is sent as it is, instead of a body.
	text   []byte
	header http.Header
	// pad is how many bytes more are sent within text. They are made while they are sent:
	// megabytes that are made, or read, while the books are locked keep all calls waiting.
	pad int
}

// refuse is a response that says what is wrong. An empty code is left out.
func refuse(status int, code, description string) response {
	body := map[string]any{"description": description}
	if code != "" {
		body["error"] = code
	}
	return response{status: status, body: body}
}

// busy refuses a call while another operation runs.
func busy() response {
	return refuse(http.StatusUnprocessableEntity, "ConcurrencyError", "another operation is in progress")
}

func ok(body map[string]any) response { return response{status: http.StatusOK, body: body} }

// spoiled is a response as the fault has it on the wire.
func (f Fault) spoiled(answer response) response {
	if f.status != 0 {
		answer = response{status: f.status, text: []byte(f.text), header: answer.header}
	} else if answer.text == nil && answer.status != http.StatusNotModified {
		answer.text = encoded(answer.body)
	}
	if answer.status != http.StatusNotModified {
		answer.pad = f.pad
	}
	if f.spoil != nil && answer.status != http.StatusNotModified {
		answer.text = f.spoil(answer.text)
	}
	header := answer.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	maps.Copy(header, f.header)
	answer.header = header
	return answer
}

func encoded(body map[string]any) []byte {
	if body == nil {
		return []byte("{}")
	}
	text, err := json.Marshal(body)
	if err != nil {
		// Only Options.Credentials can return what JSON does not know.
		return []byte("{}")
	}
	return text
}

// padded sends an answer that is a JSON object, with so many bytes more.
func padded(w http.ResponseWriter, answer response) {
	rest := bytes.TrimPrefix(bytes.TrimSpace(answer.text), []byte("{"))
	head, tail := `{"padding":"`, `",`+string(rest)
	if bytes.HasPrefix(bytes.TrimSpace(rest), []byte("}")) {
		tail = `"` + string(rest)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(head)+answer.pad+len(tail)))
	w.WriteHeader(answer.status)
	// If the platform disconnects, the rest is dropped.
	_, _ = io.Copy(w, io.MultiReader(strings.NewReader(head), io.LimitReader(filler{}, int64(answer.pad)), strings.NewReader(tail)))
}

// A filler reads as the letter x for ever.
type filler struct{}

// Read fills the buffer.
func (filler) Read(buffer []byte) (int, error) {
	const some = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
	for n := 0; n < len(buffer); {
		n += copy(buffer[n:], some)
	}
	return len(buffer), nil
}

// retryAfter reads the header of that name against the broker's clock; 0 for none.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(value); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}

// wellFormed says whether an answer's body is as the specification says. Of a refusal
// nothing is asked, nor of a deletion that is done: what is read of them is optional.
func wellFormed(verb Verb, answer response) bool {
	if answer.status >= http.StatusMultipleChoices || verb.removes() && answer.status == http.StatusOK {
		return true
	}
	var body map[string]any
	if err := json.Unmarshal(answer.text, &body); err != nil || body == nil {
		return false
	}
	switch {
	case verb.polls():
		return oneOf(body["state"], inProgress, succeeded, failed)
	case verb == GetCatalog:
		_, lawful := body["services"].([]any)
		return lawful
	}
	return isText(body["operation"]) && isText(body["dashboard_url"]) && isObject(body["credentials"]) && isObject(body["parameters"])
}

// stateIn is what a well-formed answer to a poll says; empty for any other.
func stateIn(verb Verb, answer response) string {
	var body struct {
		State string `json:"state"`
	}
	if !verb.polls() || answer.status != http.StatusOK || json.Unmarshal(answer.text, &body) != nil {
		return ""
	}
	return body.State
}

// maxOperation is the most characters of an operation key.
const maxOperation = 10000

func isText(value any) bool {
	text, is := value.(string)
	return value == nil || is && len(text) <= maxOperation
}

func isObject(value any) bool {
	_, is := value.(map[string]any)
	return value == nil || is
}

func oneOf(value any, words ...string) bool {
	text, _ := value.(string)
	return strings.Contains("|"+strings.Join(words, "|")+"|", "|"+text+"|") && text != ""
}
