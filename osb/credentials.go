package osb

import (
	"encoding/json"
	"fmt"
	"time"
)

// binding reads what a binding consists of.
func binding(body *reading) *Binding {
	metadata := body.inside("metadata")
	read := &Binding{
		Credentials:     body.rawMap("credentials"),
		SyslogDrainURL:  body.text("syslog_drain_url"),
		RouteServiceURL: body.text("route_service_url"),
		Endpoints:       endpoints(body),
		ExpiresAt:       moment(hint[string](metadata, "expires_at")),
		RenewBefore:     moment(hint[string](metadata, "renew_before")),
	}
	if len(body.list("volume_mounts")) > 0 {
		read.VolumeMounts = body.raw("volume_mounts")
	}
	if !read.ExpiresAt.IsZero() && read.RenewBefore.After(read.ExpiresAt) {
		read.RenewBefore = time.Time{}
	}
	return read
}

// fetchedBinding reads a binding that was fetched, which may have its parameters.
func (a *httpResponse) fetchedBinding() (*Binding, error) {
	body := a.open()
	read := binding(body)
	read.Parameters = body.rawObject("parameters")
	return lawfully(a, body, read)
}

// moment is a time with or without a fraction of a second; zero where it is neither.
// An unreadable one is no reason to lose a binding.
func moment(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

func endpoints(body *reading) []Endpoint {
	var list []Endpoint
	for index, raw := range body.list("endpoints") {
		entry := body.element("endpoints", index, raw)
		list = append(list, Endpoint{Host: entry.text("host"), Ports: ports(entry.raw("ports")), Protocol: entry.text("protocol")})
	}
	return list
}

// ports reads a list of strings, and also numbers and a single port, which brokers
// send; what is neither is left out.
func ports(raw json.RawMessage) []string {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	var texts []string
	for _, entry := range list {
		if text, ok := scalar(entry); ok && text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// element reads an object in a list.
func (r *reading) element(key string, index int, raw json.RawMessage) *reading {
	name := fmt.Sprintf("%s[%d]", key, index)
	inside := &reading{path: r.path + name + ".", wrong: r.wrong}
	if json.Unmarshal(raw, &inside.fields) != nil || inside.fields == nil {
		r.blame(name, "is not an object")
	}
	return inside
}
