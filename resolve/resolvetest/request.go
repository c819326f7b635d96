package resolvetest

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/resolve"
)

// Request returns the request that the text describes, and fails the test where it describes none. It is a namespace
// and what is asked for in it:
//
//	dev: type=redis
//	dev: class=cache plan=small type=redis
//	dev: class.id=id-cache plan.name=cache-small namespaced
//	dev: type=redis seed=dev/other selector=cores in (2,4),!old
//
// Names are external names unless they say otherwise (.id and .name), and the cluster's unless "namespaced" is among
// the words. The selector comes last and may hold spaces; "selector={}" is the empty one. The seed is the namespace's
// object mydb unless given.
func Request(tb testing.TB, text string) resolve.Request {
	tb.Helper()
	req, err := parseRequest(text)
	if err != nil {
		tb.Fatalf("cannot read request %q: %v", text, err)
	}
	return req
}

func parseRequest(text string) (resolve.Request, error) {
	namespace, rest, _ := strings.Cut(text, ":")
	req := resolve.Request{Namespace: strings.TrimSpace(namespace), Seed: strings.TrimSpace(namespace) + "/mydb"}
	rest, selector, selects := strings.Cut(rest, "selector=")
	if selects {
		if err := setSelector(&req, selector); err != nil {
			return resolve.Request{}, err
		}
	}
	for word := range strings.FieldsSeq(rest) {
		key, value, _ := strings.Cut(word, "=")
		if err := setWord(&req, key, value); err != nil {
			return resolve.Request{}, err
		}
	}
	return req, nil
}

func setSelector(req *resolve.Request, text string) error {
	req.Selector = &metav1.LabelSelector{}
	if text == "{}" {
		return nil
	}
	selector, err := metav1.ParseToLabelSelector(text)
	if err != nil {
		return fmt.Errorf("cannot read selector %q: %w", text, err)
	}
	req.Selector = selector
	return nil
}

func setWord(req *resolve.Request, key, value string) error {
	switch key {
	case "type":
		req.Type = value
	case "seed":
		req.Seed = value
	case "namespaced":
		req.Namespaced = true
	case "class":
		req.Class = resolve.Named{By: resolve.ByExternalName, Value: value}
	case "class.id":
		req.Class = resolve.Named{By: resolve.ByExternalID, Value: value}
	case "class.name":
		req.Class = resolve.Named{By: resolve.ByName, Value: value}
	case "plan":
		req.Plan = resolve.Named{By: resolve.ByExternalName, Value: value}
	case "plan.id":
		req.Plan = resolve.Named{By: resolve.ByExternalID, Value: value}
	case "plan.name":
		req.Plan = resolve.Named{By: resolve.ByName, Value: value}
	default:
		return fmt.Errorf("word %q is none of those that a request is made of", key)
	}
	return nil
}
