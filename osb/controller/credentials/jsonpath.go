package credentials

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/semaphore"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/jsonpath"
)

const (
	// maxCredentials is how many bytes keys and values may have together: what a Secret holds.
	maxCredentials = corev1.MaxSecretSize
	// maxVisits bounds how many values of the credentials an expression may
	// visit: all of them are in memory at once, and users write the expression.
	maxVisits = 1 << 20
)

var (
	errPath     = errors.New("the jsonPathExpression does not evaluate on the credentials that the broker gave")
	errUnlawful = errors.New("the jsonPathExpression is not lawful")
	errTooLarge = fmt.Errorf("the credentials would be larger than a Secret may be, which is %d bytes: add less", maxCredentials)
	errTooFar   = fmt.Errorf("the jsonPathExpression may look at more than %d values of the credentials: name keys instead of .., *, ranges and unions", maxVisits)
)

// evaluations bounds how many run at once: each may take tens of MiB, and each
// call to a broker may cause one.
var evaluations = semaphore.NewWeighted(2)

// evaluated is the text of a JSON path over the credentials; it waits for its
// turn. Credentials larger than a Secret are not decoded, because decoded
// values take many times the memory of their text. The error is that of ctx, or
// an UnstorableError.
func evaluated(ctx context.Context, expression string, credentials map[string]credential) ([]byte, error) {
	if size(credentials) > maxCredentials {
		return nil, UnstorableError{errTooLarge}
	}
	if err := evaluations.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("cannot evaluate the jsonPathExpression in time: %w", err)
	}
	defer evaluations.Release(1)
	text, err := evaluate(expression, credentials, maxCredentials)
	if err != nil {
		return nil, UnstorableError{err}
	}
	return text, nil
}

// evaluate is the text of a JSON path over the credentials, of at most room bytes.
func evaluate(expression string, credentials map[string]credential, room int) (text []byte, err error) {
	// The library takes a range over nothing for one over nil, and panics on an index of it.
	defer func() {
		if recover() != nil {
			text, err = nil, errPath
		}
	}()
	values, err := asValues(credentials)
	if err != nil {
		return nil, err
	}
	path := jsonpath.New("addKey")
	if err := path.Parse(expression); err != nil {
		return nil, errUnlawful
	}
	// The evaluation takes the tree apart.
	tree, err := jsonpath.Parse("addKey", expression)
	if err != nil {
		return nil, errUnlawful
	}
	if !closesLoops(tree.Root) {
		return nil, errUnlawful
	}
	if extentOf(values).visits(tree.Root) > maxVisits {
		return nil, errTooFar
	}
	written := boundedText{room: room}
	switch err := path.Execute(&written, values); {
	case errors.Is(err, errTooLarge):
		return nil, errTooLarge
	case err != nil:
		return nil, errPath // the library's error may quote values
	}
	return written.Bytes(), nil
}

// asValues are the credentials as a JSON path sees them.
func asValues(credentials map[string]credential) (map[string]any, error) {
	values := map[string]any{}
	for key, c := range credentials {
		var value any = string(c.bytes)
		if c.json != nil {
			decoder := json.NewDecoder(bytes.NewReader(c.json))
			decoder.UseNumber()
			if err := decoder.Decode(&value); err != nil {
				return nil, errPath
			}
		}
		values[key] = value
	}
	return values, nil
}

// A boundedText is a buffer that takes no more than room bytes.
type boundedText struct {
	text bytes.Buffer
	room int
}

func (b *boundedText) Write(text []byte) (int, error) {
	if b.text.Len()+len(text) > b.room {
		return 0, errTooLarge
	}
	return b.text.Write(text)
}

func (b *boundedText) Bytes() []byte { return b.text.Bytes() }

// An extent is how much there is for a path to look at: the values at all depths, of which
// the library takes the bytes of a text for some, and how deep they are nested.
type extent struct{ values, depth int }

func extentOf(value any) extent {
	below := extent{}
	add := func(e extent) { below = extent{below.values + e.values, max(below.depth, e.depth)} }
	switch v := value.(type) {
	case map[string]any:
		for _, item := range v {
			add(extentOf(item))
		}
	case []any:
		for _, item := range v {
			add(extentOf(item))
		}
	case string:
		add(extent{len(v), 1})
	case json.Number: // a text too
		add(extent{len(v), 1})
	}
	return extent{below.values + 1, below.depth + 1}
}

// closesLoops says that each range begins a part of an expression and has its end, which is a
// part of its own. The library takes other ranges, too: what follows an open one it
// evaluates twice for each.
func closesLoops(root *jsonpath.ListNode) bool {
	open := 0
	for _, node := range root.Nodes {
		list, ok := node.(*jsonpath.ListNode)
		if !ok {
			continue
		}
		rest := list.Nodes
		switch word(list) {
		case "range":
			open, rest = open+1, rest[1:]
		case "end":
			open, rest = open-1, rest[1:]
			if open < 0 || len(rest) > 0 {
				return false
			}
		}
		if slices.ContainsFunc(rest, holdsWord) {
			return false
		}
	}
	return open == 0
}

// holdsWord says that a part of a path is an identifier, or holds one.
func holdsWord(node jsonpath.Node) bool {
	switch n := node.(type) {
	case *jsonpath.IdentifierNode:
		return true
	case *jsonpath.ListNode:
		return slices.ContainsFunc(n.Nodes, holdsWord)
	case *jsonpath.UnionNode:
		return slices.ContainsFunc(n.Nodes, func(member *jsonpath.ListNode) bool { return slices.ContainsFunc(member.Nodes, holdsWord) })
	case *jsonpath.FilterNode:
		return holdsWord(n.Left) || n.Right != nil && holdsWord(n.Right)
	}
	return false
}

// visits is no less than the number of values that an expression looks at.
func (e extent) visits(root *jsonpath.ListNode) float64 {
	total, loops := 0.0, []reach{{times: 1}}
	for _, node := range root.Nodes {
		loop := loops[len(loops)-1]
		list, ok := node.(*jsonpath.ListNode)
		if !ok {
			total += loop.visits(e)
			continue
		}
		found := loop.then(e.reach(list), e)
		total += found.visits(e) * float64(1+len(list.Nodes))
		switch word(list) {
		case "range":
			loops = append(loops, found)
		case "end":
			loops = loops[:max(1, len(loops)-1)]
		}
	}
	return total
}

// word is the identifier that a part of an expression begins with; empty if it is none.
func word(list *jsonpath.ListNode) string {
	if len(list.Nodes) == 0 {
		return ""
	}
	if first, ok := list.Nodes[0].(*jsonpath.IdentifierNode); ok {
		return first.Name
	}
	return ""
}

// A reach is how far a path goes: whether to many values, whether these may hold one
// another, and how many times to each.
type reach struct {
	many, nested bool
	times        float64
}

func (r reach) visits(e extent) float64 {
	if r.many {
		return r.times * float64(e.values)
	}
	return r.times
}

// then is the reach of a path that begins where another ends. What is nested is met once
// from each value that it is in.
func (r reach) then(next reach, e extent) reach {
	times := r.times * next.times
	if r.nested && next.many {
		times *= float64(e.depth)
	}
	return reach{many: r.many || next.many, nested: r.nested || next.nested, times: times}
}

func (e extent) reach(list *jsonpath.ListNode) reach {
	whole := reach{times: 1}
	if list == nil {
		return whole
	}
	for _, node := range list.Nodes {
		whole = whole.then(e.step(node), e)
	}
	return whole
}

func (e extent) step(node jsonpath.Node) reach {
	switch n := node.(type) {
	case *jsonpath.ListNode:
		return e.reach(n)
	case *jsonpath.RecursiveNode:
		// The library copies what it found once for each level that it comes back from.
		return reach{many: true, nested: true, times: float64(e.depth)}
	case *jsonpath.WildcardNode, *jsonpath.ArrayNode:
		return reach{many: true, times: 1}
	case *jsonpath.FilterNode:
		return reach{many: true, times: 1 + e.reach(n.Left).times + e.reach(n.Right).times}
	case *jsonpath.UnionNode:
		all := reach{nested: true}
		for _, member := range n.Nodes {
			one := e.reach(member)
			all.many, all.times = all.many || one.many, all.times+one.times
		}
		return all
	}
	return reach{times: 1}
}
