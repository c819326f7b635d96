package merge

import (
	"maps"
	"slices"
)

// A node is a value on its way through the fold, with the layer that it came from.
type node struct {
	// layer is the index of the highest layer that gave this value or, of an object, the object itself.
	layer int
	// value is the subtree as that one layer gave it, while kids is nil.
	value any
	// kids are the members of an object that more than one layer had a hand in.
	kids map[string]*node
	// taken marks the user's null that took a default away.
	taken bool
	// mixed: not everything below came from layer. Set by seal.
	mixed bool
}

// combine folds layers, of which there is at least one, and reads the result off the tree.
func combine(layers []Layer) Result {
	user := len(layers) - 1
	root := &node{kids: map[string]*node{}}
	for i, layer := range layers[:user] {
		root.overlay(layer.Values, i, false)
	}
	if len(root.kids) == 0 {
		return untouched(layers[user])
	}
	root.overlay(layers[user].Values, user, true)
	root.seal()
	e := emitter{layers: layers, user: user, result: Result{Origin: make(map[Pointer]string, len(root.kids))}}
	whole := layers[user].Values == nil
	e.result.Values = e.object(root, "", whole)
	if whole {
		e.result.Added = []Addition{{Value: e.result.Values}}
	}
	return e.result
}

// untouched is the result where there are no defaults: the user's values as they are, without a tree.
func untouched(layer Layer) Result {
	result := Result{Values: layer.Values}
	if len(layer.Values) == 0 {
		return result
	}
	result.Origin = make(map[Pointer]string, len(layer.Values))
	for key := range layer.Values {
		result.Origin[Pointer("").Child(key)] = layer.Name
	}
	return result
}

// overlay puts one layer's values over n, an object with kids.
func (n *node) overlay(values map[string]any, layer int, user bool) {
	n.layer = layer
	for key, value := range values {
		below := n.kids[key]
		object, isObject := value.(map[string]any)
		switch {
		case value == nil && below != nil && !user:
			delete(n.kids, key)
		case value == nil && below != nil && !below.isNull():
			n.kids[key] = &node{layer: layer, taken: true}
		case isObject && below.isObject():
			below.expand()
			below.overlay(object, layer, user)
		default:
			n.kids[key] = &node{layer: layer, value: value}
		}
	}
}

// expand turns an object that one layer gave into kids, one level deep. Each object is expanded at most once, so that the
// whole fold stays linear.
func (n *node) expand() {
	if n.kids != nil {
		return
	}
	object, _ := n.value.(map[string]any)
	n.kids = make(map[string]*node, len(object))
	for key, value := range object {
		n.kids[key] = &node{layer: n.layer, value: value}
	}
	n.value = nil
}

func (n *node) isObject() bool {
	if n == nil {
		return false
	}
	_, ok := n.value.(map[string]any)
	return ok || n.kids != nil
}

func (n *node) isNull() bool {
	return n.value == nil && n.kids == nil
}

// seal marks the objects that several layers gave together. A null that took something away counts as such too: it has to be
// found again.
func (n *node) seal() {
	for _, kid := range n.kids {
		kid.seal()
		n.mixed = n.mixed || kid.mixed || kid.taken || kid.layer != n.layer
	}
}

// An emitter reads a sealed tree into a result.
type emitter struct {
	layers []Layer
	user   int
	result Result
}

// object reads the members of a mixed object. Below an added subtree nothing is added again.
func (e *emitter) object(n *node, at Pointer, added bool) map[string]any {
	values := make(map[string]any, len(n.kids))
	for _, key := range sortedKeys(n.kids) {
		values[key] = e.value(n.kids[key], at.Child(key), added)
	}
	return values
}

// value reads one node: itself if one layer gave it alone, else its members.
func (e *emitter) value(n *node, at Pointer, added bool) any {
	fresh := !added && n.layer < e.user
	var value any
	if n.mixed {
		value = e.object(n, at, added || fresh)
	}
	if !n.mixed {
		value = e.plain(n)
		e.result.Origin[at] = e.layers[n.layer].Name
	}
	if n.taken {
		e.result.Removed = append(e.result.Removed, at)
	}
	if fresh {
		e.result.Added = append(e.result.Added, Addition{Pointer: at, Value: value})
	}
	return value
}

// plain is the value of a subtree that one layer gave alone. A default's is copied, because defaults may be shared.
func (e *emitter) plain(n *node) any {
	if n.kids == nil && n.layer == e.user {
		return n.value
	}
	if n.kids == nil {
		return clone(n.value)
	}
	object := make(map[string]any, len(n.kids))
	for key, kid := range n.kids {
		object[key] = e.plain(kid)
	}
	return object
}

// clone copies the containers of a decoded JSON value.
func clone(value any) any {
	switch v := value.(type) {
	case map[string]any:
		object := maps.Clone(v)
		for key, item := range object {
			object[key] = clone(item)
		}
		return object
	case []any:
		array := slices.Clone(v)
		for i, item := range array {
			array[i] = clone(item)
		}
		return array
	default:
		return value
	}
}
