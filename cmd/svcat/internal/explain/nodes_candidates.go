package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// shown is how many candidates a tree lists of a tier, and of those that claim none.
const shown = 10

// nodes are what stands below now.
func (n *Now) nodes(namespace string) []node {
	nodes := []node{n.records()}
	for i := range n.Tiers {
		nodes = append(nodes, n.Tiers[i].node(i+1, namespace))
	}
	nodes = append(nodes, n.others())
	if n.Rule == ruleInstance || len(n.Tiers) == 0 {
		nodes = append(nodes, n.Policy.node(namespace))
	}
	if n.Price != "" {
		nodes = append(nodes, leaf("price: "+n.Price))
	}
	if n.Plan != nil {
		nodes = append(nodes, provisionNode("parameters for its own instance", n.ProvisionParameters), parametersNode("parameters", n.Parameters, n.Secrets), transformsNode(n.Transforms))
	}
	if n.Waits != "" {
		nodes = append(nodes, leaf("waits for: "+n.Waits))
	}
	if n.Refusal != nil {
		nodes = append(nodes, n.Refusal.node())
	}
	said := node{text: "admission would say"}
	for _, warning := range n.Warnings {
		said = said.with(leaf(warning))
	}
	if len(said.kids) > 0 {
		nodes = append(nodes, said)
	}
	return nodes
}

func (n *Now) records() node {
	records := node{text: "records"}
	for i := range n.Records {
		record := &n.Records[i]
		switch {
		case record.Plan == "":
			records = records.with(leaf(record.kindName() + ": nothing"))
		case record.Believed:
			records = records.with(leaf(record.kindName() + ": " + cmp.Or(record.Title, record.Plan)))
		default:
			records = records.with(node{mark: loser, text: fmt.Sprintf("%s: %s, not believed: it %s", record.kindName(), cmp.Or(record.Title, record.Plan), record.Why)})
		}
	}
	if len(records.kids) == 0 {
		return node{}
	}
	return records
}

// node is a tier, numbered.
func (t *Tier) node(number int, namespace string) node {
	state := t.State
	if state == "ambiguous" {
		state = "several claim it"
	}
	tier := node{text: fmt.Sprintf("%d %s: %s", number, reason(t.Rule, namespace, nil), state)}
	return tier.list(t.Claims, func(c *Candidate) node { return c.claim(namespace) })
}

func (n *Now) others() node {
	if len(n.Others) == 0 {
		return node{}
	}
	others := node{text: fmt.Sprintf("%d other candidates claim none of these", len(n.Others))}
	if len(n.Others) == 1 {
		others.text = "1 other candidate claims none of these"
	}
	return others.list(n.Others, (*Candidate).other)
}

// list adds as many candidates as anybody reads, the one that is chosen among them.
func (n node) list(candidates []Candidate, line func(*Candidate) node) node {
	if len(candidates) <= shown {
		for i := range candidates {
			n = n.with(line(&candidates[i]))
		}
		return n
	}
	read := slices.Clone(candidates)
	slices.SortStableFunc(read, func(a, b Candidate) int { return cmp.Compare(late(a), late(b)) })
	return n.list(read[:shown], line).with(leaf(fmt.Sprintf("and %d more: -o json has all", len(read)-shown)))
}

// late is where a candidate comes where not all are shown: what is chosen comes first.
func late(c Candidate) int {
	if c.Fate == "chosen" {
		return 0
	}
	return 1
}

// node is a candidate with its fate.
func (c *Candidate) node() node {
	line := node{mark: passed, text: c.Title + ": " + c.Fate + c.traits()}
	if c.Fate == "chosen" {
		line.mark = winner
	}
	if strings.HasPrefix(c.Fate, "gone:") || c.Policy != nil {
		line.mark = loser
	}
	return line
}

// claim is a candidate that claims a tier, and below it what policies say.
func (c *Candidate) claim(namespace string) node { return c.node().with(c.Policy.node(namespace)) }

// other is a candidate that claims none.
func (c *Candidate) other() node {
	line := c.node()
	if c.Policy != nil {
		line.text += ", and denied by policy " + c.Policy.Names[0]
	}
	return line
}

// traits are what a candidate has to say for itself.
func (c *Candidate) traits() string {
	var traits []string
	if c.Recorded {
		traits = append(traits, "recorded")
	}
	if c.Annotated {
		traits = append(traits, "annotated as default")
	}
	if c.Suggested {
		traits = append(traits, "suggested")
	}
	if c.Weight != 0 {
		traits = append(traits, fmt.Sprintf("weight %d", c.Weight))
	}
	if len(traits) == 0 {
		return ""
	}
	return " [" + strings.Join(traits, ", ") + "]"
}

// node is what policies refuse.
func (p *Policy) node(namespace string) node {
	if p == nil {
		return node{}
	}
	text := fmt.Sprintf("%s %s denies it in namespace %s", p.Kind, p.Names[0], namespace)
	if p.NotAllowed {
		text = fmt.Sprintf("%s %s allows it elsewhere, not in namespace %s", p.Kind, strings.Join(p.Names, ", "), namespace)
	}
	if p.Costs != "" {
		text += " (" + p.Costs + ")"
	}
	if p.Message != "" {
		text += ": " + p.Message
	}
	return node{mark: loser, text: text}
}
