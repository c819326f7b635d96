package explain

// A mark says how a node is to be seen.
type mark string

// The marks, as a tree writes them.
const (
	plain   mark = ""
	winner  mark = "✔ "
	loser   mark = "✘ "
	passed  mark = "· "
	heading mark = " "
)

// A node is one line of an explanation, and what stands below it. A node of no
// text is none.
type node struct {
	mark mark
	text string
	kids []node
}

func leaf(text string) node { return node{text: text} }

// with adds nodes that say something.
func (n node) with(kids ...node) node {
	for _, kid := range kids {
		if kid.text != "" {
			n.kids = append(n.kids, kid)
		}
	}
	return n
}

// tree is an explanation as a tree.
func (e *Explanation) tree() node {
	root := node{mark: heading, text: e.headline()}
	namespace := e.Subject.Namespace
	switch {
	case e.Then == nil && e.Now != nil:
		root = root.with(e.Now.nodes(namespace)...)
	case e.Then != nil:
		root = root.with(e.Then.node(namespace))
		if e.Now != nil {
			root = root.with(node{text: "now: " + e.Now.outcome(namespace)}.with(e.Now.nodes(namespace)...))
		}
		if e.Difference != "" {
			root = root.with(leaf("so: " + e.Difference))
		}
	}
	for _, note := range e.Notes {
		root = root.with(leaf("note: " + note))
	}
	return root
}
