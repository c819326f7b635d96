package explain

import (
	"fmt"
	"strings"
)

// node is the refusal, a line of it in each leaf.
func (r *Refusal) node() node {
	refusal := node{mark: loser, text: "refused: " + r.Reason}
	if r.Code != 0 {
		refusal.text += fmt.Sprintf(" (%d)", r.Code)
	}
	for line := range strings.SplitSeq(r.Message, "\n") {
		refusal = refusal.with(leaf(strings.TrimSpace(line)))
	}
	return refusal
}

// node is what was decided.
func (t *Then) node(namespace string) node {
	then := node{text: "then: no plan was decided"}
	if t.Plan != nil {
		then.text = "then: " + t.Plan.titled()
		if t.Rule != "" {
			then.text += " (" + reason(t.Rule, namespace, t.Plan) + ")"
		}
		if t.Gone != "" {
			then = then.with(node{mark: loser, text: "this plan cannot be chosen any more: " + t.Gone})
		}
		then = then.with(provisionNode("parameters for its own instance, as stored", t.ProvisionParameters), parametersNode("parameters as stored", t.Parameters, nil), transformsNode(t.Transforms))
	}
	if t.Truncated {
		then = then.with(leaf("not every origin fitted into the record: what has none counts as the user's"))
	}
	for _, condition := range t.Conditions {
		text := "condition " + condition.Type + " " + condition.Status
		if condition.Reason != "" {
			text += ", " + condition.Reason
		}
		if condition.Message != "" {
			text += ": " + condition.Message
		}
		then = then.with(leaf(strings.ReplaceAll(text, "\n", " ")))
	}
	return then
}

// provisionNode are the parameters for an instance of a binding's own, if there are
// any.
func provisionNode(title string, parameters []Parameter) node {
	if len(parameters) == 0 {
		return node{}
	}
	return parametersNode(title, parameters, nil)
}

func parametersNode(title string, parameters []Parameter, secrets []string) node {
	list := node{text: title}
	for i := range parameters {
		list = list.with(parameters[i].node())
	}
	for _, secret := range secrets {
		list = list.with(leaf("more from Secret " + secret + ": the controller reads it, and it beats a default"))
	}
	if len(list.kids) == 0 {
		list.text += ": none"
	}
	return list
}

// longest is how many letters of a value a tree shows.
const longest = 60

func (p *Parameter) node() node {
	value := []rune(compact(p.Value))
	if len(value) > longest {
		value = append(value[:longest], '…')
	}
	name := p.Path()
	if p.Removed {
		return leaf(fmt.Sprintf("%s = null ← %s: it takes the default away, nothing is sent", name, p.From))
	}
	return leaf(fmt.Sprintf("%s = %s ← %s", name, string(value), p.From))
}

func transformsNode(transforms []Transform) node {
	list := node{text: "secret transforms, in order"}
	for _, transform := range transforms {
		list = list.with(leaf(transform.Does + " ← " + transform.From))
	}
	if len(list.kids) == 0 {
		return node{}
	}
	return list
}
