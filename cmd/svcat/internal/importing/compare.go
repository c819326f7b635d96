package importing

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
	"github.com/defaultplan/defaultplan/resolve"
)

// An offer is the class and plan of this cluster that a plan of the file is.
type offer struct {
	class *catalog.Class
	plan  *catalog.Plan
	// why says why there is none; empty: there is one, or untried says that a dry run cannot
	// know.
	why     string
	untried string
}

// A comparison finds the classes and plans of the file here, by the IDs that they have at their
// broker.
type comparison struct {
	*side

	brokers map[string]*outcome
	classes map[string][]catalog.Class
	plans   map[string][]catalog.Plan
	// found maps the title of a class of the file to what it is here.
	found map[string]offer
}

// compare compares the catalogs of the file with those here, reports what differs, and returns what
// each plan is here, by its title in the file.
func compare(ctx context.Context, s *side, contents *moving.Contents, brokers map[string]*outcome) (map[string]offer, error) {
	c := &comparison{s, brokers, map[string][]catalog.Class{}, map[string][]catalog.Plan{}, map[string]offer{}}
	if err := c.read(ctx, contents); err != nil {
		return nil, err
	}
	offers := map[string]offer{}
	for _, class := range contents.Classes {
		found := c.class(class)
		c.found[moving.Title(class)] = found
		c.addMismatch(class, class.GetSpec().ExternalName, found, func() string { return found.class.Spec.ExternalName })
	}
	for _, plan := range contents.Plans {
		found := c.plan(plan)
		offers[moving.Title(plan)] = found
		c.addMismatch(plan, plan.GetSpec().ExternalName, found, func() string { return found.plan.Spec.ExternalName })
		if found.plan != nil && !sameSchemas(plan.GetSpec(), found.plan.Spec) {
			c.report.Add(plan, c.names, moving.Note, "its parameter schemas are others here: they count for later changes")
		}
	}
	return offers, nil
}

// addMismatch reports a class or plan that is not here, or has another name.
func (c *comparison) addMismatch(object v1beta1.OfferingObject, name string, found offer, here func() string) {
	switch {
	case found.untried != "":
	case found.why != "":
		c.report.Add(object, c.names, moving.NotMoved, found.why)
	case here() != name:
		c.report.Add(object, c.names, moving.Note, fmt.Sprintf("its broker calls it %q here, and called it %q: it is the same by its ID", here(), name))
	}
}

// read lists the catalogs of the scopes that the file has classes of.
func (c *comparison) read(ctx context.Context, contents *moving.Contents) error {
	scopes := map[string]bool{}
	for _, class := range contents.Classes {
		scopes[c.names.New(class.GetNamespace())] = true
	}
	for namespace := range scopes {
		query := catalog.Query{Scope: cli.ScopeOf(namespace)}
		err := catalog.Classes(ctx, c.client, query, func(class catalog.Class) error {
			key := keyOf(namespace, class.Broker, class.Spec.ExternalID)
			c.classes[key] = append(c.classes[key], class)
			return nil
		})
		if err != nil {
			return err
		}
		err = catalog.Plans(ctx, c.client, query, func(plan catalog.Plan) error {
			key := keyOf(namespace, plan.ClassName, plan.Spec.ExternalID)
			c.plans[key] = append(c.plans[key], plan)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// keyOf is where something of a namespace is found: within its broker or class, by its ID.
func keyOf(namespace, within, id string) string { return namespace + "/" + within + "/" + id }

// class finds a class of the file here.
func (c *comparison) class(exported v1beta1.ClassObject) offer {
	target := exported.GetBroker()
	title := "ClusterServiceBroker " + target.ClusterServiceBrokerName
	if target.ServiceBrokerName != "" {
		title = "ServiceBroker " + cli.Qualified(exported.GetNamespace(), target.ServiceBrokerName)
	}
	broker := c.brokers[title]
	switch {
	case broker == nil:
		return offer{why: title + " is not in the file"}
	case broker.result == moving.WouldMove:
		return offer{untried: "not tried: its broker is not here yet"}
	case !broker.arrived():
		return offer{why: title + " is not usable here"}
	}
	found := pick(c.classes[keyOf(c.names.New(exported.GetNamespace()), broker.here.GetName(), exported.GetSpec().ExternalID)], exported.GetName())
	if found == nil {
		return offer{why: fmt.Sprintf("its broker lists no class with the ID %q here", exported.GetSpec().ExternalID)}
	}
	return offer{class: found}
}

// plan finds a plan of the file here.
func (c *comparison) plan(exported v1beta1.PlanObject) offer {
	title := v1beta1.ScopedKind(exported.GetNamespace(), "ServiceClass") + " " + cli.Qualified(exported.GetNamespace(), exported.GetClassName())
	found, is := c.found[title]
	switch {
	case !is:
		return offer{why: title + " is not in the file"}
	case found.class == nil:
		return found
	}
	found.plan = pick(c.plans[keyOf(c.names.New(exported.GetNamespace()), found.class.Object.GetName(), exported.GetSpec().ExternalID)], exported.GetName())
	if found.plan == nil {
		return offer{why: fmt.Sprintf("its class has no plan with the ID %q here", exported.GetSpec().ExternalID)}
	}
	return found
}

// offered are classes and plans, each of a name and an origin.
type offered interface {
	Ref() resolve.Ref
	Origin() catalog.Origin
}

// pick is the one of several of the same ID that has a name, else the broker's own: people make
// copies of classes and plans.
func pick[T offered](of []T, name string) *T {
	var own *T
	for i := range of {
		if of[i].Ref().Name == name {
			return &of[i]
		}
		if own == nil || of[i].Origin() == catalog.FromBroker {
			own = &of[i]
		}
	}
	return own
}

// sameSchemas says whether two plans take the same parameters.
func sameSchemas(a, b *v1beta1.CommonServicePlanSpec) bool {
	return sameJSON(a.InstanceCreateParameterSchema, b.InstanceCreateParameterSchema) &&
		sameJSON(a.InstanceUpdateParameterSchema, b.InstanceUpdateParameterSchema) &&
		sameJSON(a.ServiceBindingCreateParameterSchema, b.ServiceBindingCreateParameterSchema)
}

// sameJSON says whether two values are equal, however they are written. Absent, null and {} are:
// none of them asks for anything.
func sameJSON(a, b *runtime.RawExtension) bool { return reflect.DeepEqual(valueOf(a), valueOf(b)) }

func valueOf(raw *runtime.RawExtension) any {
	if raw == nil || len(raw.Raw) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw.Raw))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return string(raw.Raw)
	}
	if object, is := value.(map[string]any); is && len(object) == 0 {
		return nil
	}
	return value
}
