package merge

import (
	"fmt"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// maxPaths is how many times one place of a value may be judged, over all ways through the schema that lead there.
	maxPaths = 1000
	// maxSteps is how many instructions of patterns may be run over each byte of one place.
	maxSteps = 20_000
	// ceiling is where counting stops, so that nothing overflows.
	ceiling = 1 << 30
	// pairwise is what uniqueItems may compare each item, and all below it, with.
	pairwise = 20
)

// A cost is the most that a schema can ask for at any one place of a value.
type cost struct {
	paths int // judgements
	steps int // pattern instructions
}

// A vertex is one subschema and the subschemas that it applies, by index.
type vertex struct {
	own   cost
	below int   // added to paths at every place below
	here  []int // applied to the same place
	keys  step
	items step
}

// A step leads one level down: to one of either, and to every one of always.
type step struct {
	either []int
	always []int
}

// A graph is a compiled schema as the budget sees it, with the root last: a vertex comes after all that it applies to its own
// place.
type graph []vertex

// count bounds how often a schema can be evaluated at one place of any value. Without it, a chain of anyOf and $ref that
// doubles at each link makes one check of a 1.8 KB schema run for seconds.
//
// What a schema applies in place adds up; of a level's properties one applies to a given key. A schema that leads back to
// itself in the same place has no bound at all; one that does so a level deeper, a tree, is counted down to the depth that
// values may have.
func count(root *jsonschema.Schema) (cost, error) {
	schemas := reachable(root)
	if slices.ContainsFunc(schemas, jumps) {
		return cost{}, &SchemaError{Reason: OverBudget, Detail: "a dynamic reference has no bounded target"}
	}
	g, ok := newGraph(root, len(schemas))
	if !ok {
		return cost{}, &SchemaError{Reason: OverBudget, Detail: "a subschema applies itself to the same place"}
	}
	most := cost{
		paths: g.most(func(v vertex) int { return v.own.paths }, func(v vertex) int { return v.below }),
		steps: g.most(func(v vertex) int { return v.own.steps }, func(vertex) int { return 0 }),
	}
	if most.paths > maxPaths {
		return cost{}, &SchemaError{Reason: OverBudget, Detail: fmt.Sprintf("one place could be checked in more than %d ways", maxPaths)}
	}
	if most.steps > maxSteps {
		return cost{}, &SchemaError{Reason: OverBudget, Detail: fmt.Sprintf("one place could be matched against more than %d instructions of patterns", maxSteps)}
	}
	return most, nil
}

// most is the largest sum over all ways to one place, for places at every depth that values may have. Weight is what a vertex
// costs at its place, below what it adds at each place under it.
func (g graph) most(weight, below func(vertex) int) int {
	above := make([]int, len(g)) // sums for a place one level less deep
	keys, items := make([]int, len(g)), make([]int, len(g))
	root, worst := len(g)-1, 0
	for depth := range maxDepth + 1 {
		for i, v := range g {
			keys[i], items[i] = weight(v), weight(v)
			if depth > 0 { // reached through an object or through an array, never both
				keys[i], items[i] = below(v)+v.keys.sum(above), below(v)+v.items.sum(above)
			}
			for _, j := range v.here {
				keys[i], items[i] = min(keys[i]+keys[j], ceiling), min(items[i]+items[j], ceiling)
			}
		}
		for i := range g {
			above[i] = max(keys[i], items[i])
		}
		worst = max(worst, above[root])
	}
	return worst
}

func (s step) sum(above []int) int {
	most, sum := 0, 0
	for _, i := range s.either {
		most = max(most, above[i])
	}
	for _, i := range s.always {
		sum = min(sum+above[i], ceiling)
	}
	return min(most+sum, ceiling)
}

// newGraph puts the schemas in order; false if one applies itself in place.
func newGraph(root *jsonschema.Schema, size int) (graph, bool) {
	b := builder{index: make(map[*jsonschema.Schema]int, size), open: map[*jsonschema.Schema]bool{}}
	if !b.place(root) {
		return nil, false
	}
	for at := 0; at < len(b.order); at++ { //nolint:intrange // b.order grows while the loop runs
		for _, below := range descend(b.order[at]) {
			if !b.place(below) {
				return nil, false
			}
		}
	}
	g := make(graph, 0, len(b.order)+1)
	for _, s := range b.order {
		g = append(g, b.vertex(s))
	}
	return append(g, vertex{here: []int{b.index[root]}}), true
}

// A builder orders schemas: those that one applies in place come before it.
type builder struct {
	index map[*jsonschema.Schema]int
	order []*jsonschema.Schema
	open  map[*jsonschema.Schema]bool
}

// place gives a schema its index, after all that it applies in place; false on a circle.
func (b *builder) place(s *jsonschema.Schema) bool {
	if _, done := b.index[s]; done {
		return true
	}
	if b.open[s] {
		return false
	}
	b.open[s] = true
	for _, applied := range inPlace(s) {
		if !b.place(applied) {
			return false
		}
	}
	b.index[s] = len(b.order)
	b.order = append(b.order, s)
	return true
}

func (b *builder) vertex(s *jsonschema.Schema) vertex {
	v := vertex{own: ownCost(s), here: b.indexes(inPlace(s))}
	v.keys, v.items = b.step(ofProperties(s)), b.step(ofItems(s))
	if s.UniqueItems {
		v.below = pairwise
	}
	return v
}

func (b *builder) step(l level) step {
	return step{either: b.indexes(l.either), always: b.indexes(l.always)}
}

func (b *builder) indexes(schemas []*jsonschema.Schema) []int {
	indexes := make([]int, 0, len(schemas))
	for _, s := range schemas {
		indexes = append(indexes, b.index[s])
	}
	return indexes
}
