package osbtest

import (
	"net/http"
	"net/url"
	"strings"
)

// A Verb is what a call asks for.
type Verb string

// The verbs: every endpoint of the specification.
const (
	GetCatalog    Verb = "catalog"
	Provision     Verb = "provision"
	Update        Verb = "update"
	Deprovision   Verb = "deprovision"
	Bind          Verb = "bind"
	Unbind        Verb = "unbind"
	FetchInstance Verb = "fetch instance"
	FetchBinding  Verb = "fetch binding"
	PollInstance  Verb = "poll instance"
	PollBinding   Verb = "poll binding"
)

// Verbs are all of them.
func Verbs() []Verb {
	return []Verb{GetCatalog, Provision, Update, Deprovision, Bind, Unbind, FetchInstance, FetchBinding, PollInstance, PollBinding}
}

// mutates says whether the verb is one of the five that change something.
func (v Verb) mutates() bool {
	return v.creates() || v.removes() || v == Update
}

func (v Verb) creates() bool { return v == Provision || v == Bind }
func (v Verb) removes() bool { return v == Deprovision || v == Unbind }
func (v Verb) polls() bool   { return v == PollInstance || v == PollBinding }
func (v Verb) fetches() bool { return v == FetchInstance || v == FetchBinding }

// poll is the verb that follows the operations which v starts.
func (v Verb) poll() Verb {
	if v == Bind || v == Unbind {
		return PollBinding
	}
	return PollInstance
}

// A target is what a call is about: a binding, or an instance if binding is empty.
type target struct{ instance, binding string }

// id is what the books call it: binding ids are as unique as those of instances.
func (t target) id() string {
	if t.binding != "" {
		return t.binding
	}
	return t.instance
}

// kind is what it is, in a word.
func (t target) kind() string {
	if t.binding != "" {
		return "binding"
	}
	return "instance"
}

func (t target) String() string { return t.kind() + " " + t.id() }

// endpoints are the verbs by method and by what follows the ids in the path.
var endpoints = map[string]Verb{
	"GET catalog":                 GetCatalog,
	"PUT instance":                Provision,
	"PATCH instance":              Update,
	"DELETE instance":             Deprovision,
	"GET instance":                FetchInstance,
	"GET instance/last_operation": PollInstance,
	"PUT binding":                 Bind,
	"DELETE binding":              Unbind,
	"GET binding":                 FetchBinding,
	"GET binding/last_operation":  PollBinding,
}

// route reads the verb and the ids off a request; an empty verb means that the broker
// has no such endpoint. Ids are unescaped one by one, so that one may hold a slash.
func route(prefix string, r *http.Request) (Verb, target) {
	path, found := strings.CutPrefix(r.URL.EscapedPath(), strings.TrimSuffix(prefix, "/")+"/v2/")
	if !found {
		return "", target{}
	}
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		plain, err := url.PathUnescape(segment)
		if err != nil {
			return "", target{}
		}
		segments[i] = plain
	}
	if segments[0] == "service_instances" && len(segments) >= 2 {
		return below(r.Method, segments[1], segments[2:])
	}
	return endpoints[r.Method+" "+strings.Join(segments, "/")], target{}
}

func below(method, instance string, rest []string) (Verb, target) {
	at, place := target{instance: instance}, "instance"
	if len(rest) >= 2 && rest[0] == "service_bindings" {
		at.binding, place, rest = rest[1], "binding", rest[2:]
	}
	return endpoints[method+" "+strings.Join(append([]string{place}, rest...), "/")], at
}
