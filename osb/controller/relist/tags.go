package relist

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

// The tags with a meaning; any other NAME=VALUE is an attribute, and a tag
// without = is for display only.
const (
	tagServiceType   = "ServiceType"
	tagSuggestedPlan = "SuggestedPlan"
	tagWeight        = "Weight"
	yes              = "true"
	no               = "false"
)

// tags are what the tags of a service or plan say.
type tags struct {
	serviceType string
	// suggested is true, false, or the name of a plan; empty if nothing is said.
	suggested string
	// weight is a plan's; nil if nothing is said.
	weight     *int32
	attributes []attribute
	named      map[string]bool // the names of attributes
	notes      []string
}

// An attribute is a property of a service or plan that can be selected by.
type attribute struct{ name, value string }

func readTags(list []string) tags {
	t := tags{named: map[string]bool{}}
	read := &notes{}
	for _, tag := range list {
		name, value, says := strings.Cut(tag, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case !says:
		case name == tagServiceType:
			t.readType(value, read)
		case name == tagSuggestedPlan && t.suggested != "":
			read.addf("its tag %q is left out: it has one before it", shorten(tag))
		case name == tagSuggestedPlan:
			t.suggested = value
		case name == tagWeight:
			t.readWeight(value, read)
		case len(validation.IsQualifiedName(api.LabelAttributePrefix+name)) > 0:
			// Some brokers use other values, such as addresses, as tags: they
			// are ignored.
		default:
			t.readAttribute(attribute{name, value}, read)
		}
	}
	t.notes = read.texts
	return t
}

func (t *tags) readType(value string, read *notes) {
	lower := strings.ToLower(value)
	switch {
	case t.serviceType != "" && t.serviceType != lower:
		read.addf("its type %q is left out: its type is %q already", shorten(value), t.serviceType)
	case len(validation.IsDNS1123Label(lower)) > 0:
		read.addf("its type %q is left out: a type is a DNS label, such as mysql", shorten(value))
	default:
		t.serviceType = lower
	}
}

// mostWeight is what the definition of plans allows, to both sides of 0.
const mostWeight = 100_000

func (t *tags) readWeight(value string, read *notes) {
	weight, err := strconv.ParseInt(value, 10, 32)
	switch {
	case t.weight != nil:
		read.addf("its weight %s is left out: it has one before it", shorten(value))
	case err != nil || weight < -mostWeight || weight > mostWeight:
		read.addf("its weight %q is left out: a weight is a number from -%d to %d", shorten(value), mostWeight, mostWeight)
	default:
		t.weight = new(int32(weight))
	}
}

func (t *tags) readAttribute(a attribute, read *notes) {
	switch {
	case t.named[a.name]:
		read.addf("its attribute %s=%s is left out: it has one of that name", a.name, shorten(a.value))
	case len(a.value) > maxListed:
		read.addf("its attribute %s is left out: it has more than %d bytes", a.name, maxListed)
	default:
		t.attributes, t.named[a.name] = append(t.attributes, a), true
	}
}

// planTags are the tags of a plan: a field of its own, or, as the specification has
// none for it, of its metadata.
func planTags(plan *osb.Plan) []string {
	if len(plan.Tags) > 0 || len(plan.Metadata) == 0 {
		return plan.Tags
	}
	var metadata struct {
		Tags []string `json:"tags"`
	}
	if json.Unmarshal(plan.Metadata, &metadata) != nil {
		// The value is no list of tags.
		return nil
	}
	return metadata.Tags
}

// suggestedOf is the ID of the plan that a service suggests, if it is one. What plans
// say of themselves comes before what the service says.
func suggestedOf(service *osb.Service, of tags, plans []readPlan, notes *notes) string {
	var suggested []*readPlan
	for i := range plans {
		if plans[i].isSuggested() {
			suggested = append(suggested, &plans[i])
		}
	}
	switch {
	case len(suggested) == 1:
		return suggested[0].ID
	case len(suggested) > 1:
		var names []string
		for _, plan := range suggested {
			names = append(names, plan.Name)
		}
		notes.addf("none of its plans is taken as suggested, because several are: %s", cut(strings.Join(names, ", "), maxReason))
		return ""
	}
	return suggestedByService(service, of.suggested, plans, notes)
}

// isSuggested says that a plan is suggested by its own tags.
func (p *readPlan) isSuggested() bool {
	switch said := p.tags.suggested; {
	case strings.EqualFold(said, yes), said != "" && said == p.Name:
		return true
	case said == "", strings.EqualFold(said, no):
	default:
		p.notes.addf("its tag %s=%s is left out: on a plan it is true or false", tagSuggestedPlan, shorten(said))
	}
	return false
}

func suggestedByService(service *osb.Service, said string, plans []readPlan, notes *notes) string {
	if said == "" || strings.EqualFold(said, no) {
		return ""
	}
	i := slices.IndexFunc(plans, func(p readPlan) bool { return p.Name == said })
	switch {
	case i >= 0:
	case strings.EqualFold(said, yes) && len(service.Plans) > 1:
		notes.addf("its tag %s=%s is left out: it has %d plans; name one: %s=NAME", tagSuggestedPlan, said, len(service.Plans), tagSuggestedPlan)
		return ""
	case strings.EqualFold(said, yes) && len(plans) == 1:
		i = 0
	default:
		notes.addf("its tag %s=%s is left out: it has no plan of that name", tagSuggestedPlan, shorten(said))
		return ""
	}
	if strings.EqualFold(plans[i].tags.suggested, no) {
		return ""
	}
	return plans[i].ID
}
