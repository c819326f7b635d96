package resolvetest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/defaultplan/defaultplan/resolve"
)

// Catalog returns the catalog that the text describes, and fails the test where it describes none. Each line is a
// class and its plans, with empty lines and indentation ignored and ";" as good as a new line:
//
//	redis/cache: small* large? dev!
//
// is the class cache of the type redis in the cluster, with the plans small (annotated as default), large (suggested)
// and dev (gone).
//
//	dev|mysql/db{region=eu}: s=10 m=20{cores=4} l~budget
//
// is in the namespace dev; the class has a label, s and m have weights, m has a label of its own, and l is denied by
// the policy budget.
//
//	many: a<mysql>^ b@other
//
// is a class without a type, where a has one of its own and is its recorded default, and b has the Kubernetes name
// other. Marks follow a name in any order. A plan's Kubernetes name is its class's and its own, as in cache-small; a
// class's is its name. External IDs are the name after "id-", UIDs the scope and Kubernetes name after "uid-". A
// class is gone with "!", and named with "@", too.
//
//	record dev|redis lost
//
// records the plan with the Kubernetes name lost, wherever it may be, as the default of redis in the namespace dev.
func Catalog(tb testing.TB, text string) resolve.Catalog {
	tb.Helper()
	cat, err := parse(text)
	if err != nil {
		tb.Fatalf("cannot read catalog %q: %v", text, err)
	}
	return cat
}

func parse(text string) (resolve.Catalog, error) {
	var cat resolve.Catalog
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == ';' }) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		add := addClass
		if words[0] == "record" {
			add = addRecord
		}
		if err := add(&cat, words); err != nil {
			return resolve.Catalog{}, fmt.Errorf("cannot read line %q: %w", line, err)
		}
	}
	return cat, nil
}

func addRecord(cat *resolve.Catalog, words []string) error {
	if len(words) != 3 {
		return errors.New(`a record is written "record type plan"`)
	}
	namespace, typ := cutScope(words[1])
	cat.Records = append(cat.Records, resolve.Record{Type: typ, Plan: resolve.Ref{Namespace: namespace, Name: words[2]}})
	return nil
}

func addClass(cat *resolve.Catalog, words []string) error {
	head, ok := strings.CutSuffix(words[0], ":")
	if !ok {
		return errors.New(`a class is written "class:", with its plans behind`)
	}
	namespace, head := cutScope(head)
	typ := ""
	// A slash behind the first brace is a label's.
	if i := strings.IndexAny(head, "/{"); i >= 0 && head[i] == '/' {
		typ, head = head[:i], head[i+1:]
	}
	n, err := parseName(head)
	if err != nil {
		return err
	}
	class := resolve.ClassEntry{
		Ref: resolve.Ref{Namespace: namespace, Name: n.or(n.external)}, ExternalName: n.external, ExternalID: "id-" + n.external,
		Type: typ, Labels: n.labels, Gone: n.gone,
	}
	cat.Classes = append(cat.Classes, class)
	for _, word := range words[1:] {
		if err := addPlan(cat, &class, word); err != nil {
			return err
		}
	}
	return nil
}

func addPlan(cat *resolve.Catalog, class *resolve.ClassEntry, word string) error {
	n, err := parseName(word)
	if err != nil {
		return err
	}
	ref := resolve.Ref{Namespace: class.Namespace, Name: n.or(class.Name + "-" + n.external)}
	cat.Plans = append(cat.Plans, resolve.PlanEntry{
		Ref: ref, UID: "uid-" + ref.Namespace + "/" + ref.Name, Class: class.Name, ExternalName: n.external, ExternalID: "id-" + n.external,
		Type: n.ownType, Labels: n.labels, Default: n.isDefault, Suggested: n.suggested, Weight: n.weight, Gone: n.gone, Denied: n.denied,
	})
	if !n.recorded {
		return nil
	}
	typ := n.ownType
	if typ == "" {
		typ = class.Type
	}
	if typ == "" {
		return fmt.Errorf("plan %q has no type that it could be recorded for", n.external)
	}
	cat.Records = append(cat.Records, resolve.Record{Type: typ, Plan: ref})
	return nil
}

func cutScope(word string) (namespace, rest string) {
	if namespace, rest, ok := strings.Cut(word, "|"); ok {
		return namespace, rest
	}
	return "", word
}

// A name is a class's or plan's external name with what its marks say.
type name struct {
	external, kubernetes           string
	ownType, gone, denied          string
	isDefault, recorded, suggested bool
	weight                         int32
	labels                         map[string]string
}

// or returns the Kubernetes name that was given, else the other.
func (n *name) or(other string) string {
	if n.kubernetes != "" {
		return n.kubernetes
	}
	return other
}

const (
	marks = "*^?!=~<{@"
	flags = "*^?!"
)

func parseName(word string) (name, error) {
	end := strings.IndexAny(word+"*", marks)
	n := name{external: word[:end]}
	if n.external == "" {
		return name{}, fmt.Errorf("%q has no name before its marks", word)
	}
	for rest := word[end:]; rest != ""; {
		mark, value := rest[0], rest[1:]
		if i := strings.IndexAny(value, stopOf(mark)); i >= 0 {
			value = value[:i]
		}
		rest = strings.TrimLeft(rest[1+len(value):], "}>")
		if err := n.mark(mark, value); err != nil {
			return name{}, fmt.Errorf("cannot read marks of %q: %w", word, err)
		}
	}
	return n, nil
}

// stopOf returns what ends the value of a mark: in braces a mark is text.
func stopOf(mark byte) string {
	switch mark {
	case '{':
		return "}"
	case '<':
		return ">"
	}
	return marks
}

func (n *name) mark(mark byte, value string) error {
	if (value == "") != (strings.IndexByte(flags, mark) >= 0) {
		return fmt.Errorf("%q is not a mark, or has no value", string(mark)+value)
	}
	switch mark {
	case '*':
		n.isDefault = true
	case '^':
		n.recorded = true
	case '?':
		n.suggested = true
	case '!':
		n.gone = "being deleted"
	case '~':
		n.denied = value
	case '<':
		n.ownType = value
	case '@':
		n.kubernetes = value
	case '=':
		weight, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return fmt.Errorf("cannot read weight: %w", err)
		}
		n.weight = int32(weight)
	case '{':
		return n.label(value)
	}
	return nil
}

func (n *name) label(list string) error {
	n.labels = map[string]string{}
	for pair := range strings.SplitSeq(list, ",") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("label %q is not written key=value", pair)
		}
		n.labels[key] = value
	}
	return nil
}
