package export

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

// A gatherer reads what a file is to hold. It looks nothing up by a field: the definitions of the
// retired catalog have none to select by.
type gatherer struct {
	reader   client.Reader
	contents *moving.Contents
	// seen are the classes, plans and brokers that were read, or are not there.
	seen map[string]bool
	// elsewhere are objects that are not in the file and have an ID at the broker, which may be that of
	// one that is, by kind and ID.
	elsewhere map[string]client.Object
	// allBrokers says that all brokers were asked for, not only those of instances.
	allBrokers bool
	// notes say what could not be read, each to be a line.
	notes []string
}

// moved are the kinds that are moved.
var moved = []catalog.Listed{
	{List: &v1beta1.ServiceInstanceList{}, Object: &v1beta1.ServiceInstance{}},
	{List: &v1beta1.ServiceBindingList{}, Object: &v1beta1.ServiceBinding{}},
}

func newGatherer(reader client.Reader) *gatherer {
	return &gatherer{reader: reader, contents: &moving.Contents{}, seen: map[string]bool{}, elsewhere: map[string]client.Object{}}
}

// gather reads the objects of a namespace, or of all if it is empty.
func (g *gatherer) gather(ctx context.Context, namespace string, allBrokers bool) (*moving.Contents, error) {
	c := g.contents
	g.allBrokers = allBrokers
	for _, of := range moved {
		err := catalog.Readable(ctx, g.reader, of, func(object client.Object) error {
			switch o := object.(type) {
			case *v1beta1.ServiceInstance:
				c.Instances = append(c.Instances, o)
			case *v1beta1.ServiceBinding:
				c.Bindings = append(c.Bindings, o)
			}
			return nil
		}, g.unreadable(of.Object), client.InNamespace(namespace))
		if err != nil {
			return nil, err
		}
	}
	if namespace != "" {
		if err := g.lookElsewhere(ctx, namespace); err != nil {
			return nil, err
		}
	}
	for _, instance := range c.Instances {
		if err := g.offering(ctx, instance); err != nil {
			return nil, err
		}
	}
	if allBrokers {
		if err := g.everything(ctx, cli.Scope{Cluster: true, Namespaces: true, Namespace: namespace}); err != nil {
			return nil, err
		}
	}
	g.addresses()
	for _, object := range c.Objects() {
		moving.Strip(object)
		withoutMessages(object)
	}
	g.leaveOut()
	id, err := identity(ctx, g.reader)
	c.Header.ClusterID = id
	return c, err
}

// withoutMessages empties what a broker or a failed call to it said: it may quote the credentials in the
// broker's address, and parameters that are in a Secret. A move goes by the rest of the status.
func withoutMessages(object client.Object) {
	conditions := moving.ConditionsOf(object)
	for i := range conditions {
		conditions[i].Message = ""
	}
	if binding, is := object.(*v1beta1.ServiceBinding); is && binding.Status.Rotation != nil {
		binding.Status.Rotation.Message = ""
	}
}

// addresses takes credentials off the addresses of brokers: the retired catalog takes them there.
func (g *gatherer) addresses() {
	for _, broker := range g.contents.Brokers {
		*broker.GetStatus() = v1beta1.CommonServiceBrokerStatus{}
		spec := broker.GetSpec()
		if bare := cli.WithoutCredentials(spec.URL); bare != spec.URL {
			spec.URL = bare
			g.notes = append(g.notes, "the address of "+moving.Title(broker)+" has credentials, which are not in the file: write them into a Secret that its authInfo names")
		}
	}
}

// offering reads the plan, class and broker of an instance.
func (g *gatherer) offering(ctx context.Context, instance *v1beta1.ServiceInstance) error {
	spec := &instance.Spec
	if !spec.Decided() {
		return nil // it cannot be moved, and says so
	}
	namespace, class := classOf(spec, instance.Namespace)
	plan := cmp.Or(spec.ServicePlanRef.GetName(), spec.ClusterServicePlanRef.GetName())
	found := v1beta1.NewPlan(namespace)
	if ok, err := g.get(ctx, found, namespace, plan); err != nil {
		return err
	} else if ok {
		g.contents.Plans = append(g.contents.Plans, found)
	}
	offered := v1beta1.NewClass(namespace)
	ok, err := g.get(ctx, offered, namespace, class)
	if err != nil || !ok {
		return err
	}
	g.contents.Classes = append(g.contents.Classes, offered)
	in, name := brokerOf(offered)
	broker := v1beta1.NewBroker(in)
	ok, err = g.get(ctx, broker, in, name)
	if ok {
		g.contents.Brokers = append(g.contents.Brokers, broker)
	}
	return err
}

// get reads an object once. What is not there is noted: what needs it cannot be moved.
func (g *gatherer) get(ctx context.Context, object client.Object, namespace, name string) (bool, error) {
	title := titleOf(object, namespace, name)
	if name == "" || g.seen[title] {
		return false, nil
	}
	g.seen[title] = true
	at := types.NamespacedName{Namespace: namespace, Name: name}
	there, err := g.read(ctx, at, object)
	switch {
	case err != nil && catalog.Unreadable(ctx, g.reader, at, object, err) != nil:
		g.notes = append(g.notes, title+" is not in the file, and what needs it cannot be moved: "+wrongType)
		return false, nil
	case err != nil:
		return false, fmt.Errorf("cannot read %s: %w", title, err)
	case !there:
		g.notes = append(g.notes, title+" is not there any more: what needs it cannot be moved")
	}
	return there, nil
}

// read says whether an object is there, and reads it. The retired catalog stores references to names that
// nothing can have: a client refuses to ask for some, and others are longer than a request may be.
func (g *gatherer) read(ctx context.Context, at types.NamespacedName, object client.Object) (there bool, err error) {
	namespace := cmp.Or(at.Namespace, metav1.NamespaceDefault) // what is of the cluster has none
	if len(validation.IsDNS1123Subdomain(at.Name)) > 0 || len(validation.IsDNS1123Label(namespace)) > 0 {
		return false, nil
	}
	err = g.reader.Get(ctx, at, object)
	return err == nil, client.IgnoreNotFound(err) //nolint:wrapcheck // the caller names the object
}

// titleOf is the title of an object of a kind before it is read; the namespace says of which scope that is.
func titleOf(object client.Object, namespace, name string) string {
	object.SetNamespace(namespace)
	object.SetName(name)
	return moving.Title(object)
}

// everything reads all brokers of a scope, with their catalogs.
func (g *gatherer) everything(ctx context.Context, scope cli.Scope) error {
	query := catalog.Query{Scope: scope}
	c := g.contents
	err := catalog.Brokers(ctx, g.reader, query, func(b catalog.Broker) error {
		if g.first(b.Object) {
			c.Brokers = append(c.Brokers, b.Object)
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = catalog.Classes(ctx, g.reader, query, func(k catalog.Class) error {
		if g.first(k.Object) {
			c.Classes = append(c.Classes, k.Object)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return catalog.Plans(ctx, g.reader, query, func(p catalog.Plan) error {
		if g.first(p.Object) {
			c.Plans = append(c.Plans, p.Object)
		}
		return nil
	})
}

// first says whether an object was not read before.
func (g *gatherer) first(object client.Object) bool {
	title := moving.Title(object)
	if g.seen[title] {
		return false
	}
	g.seen[title] = true
	return true
}

// secrets lists the Secrets that the objects use, and reads those to be carried that one uses which can
// be moved. A user may have another binding name any Secret of the cluster.
func (g *gatherer) secrets(ctx context.Context, carry bool) error {
	uses := moving.SecretsOf(g.contents)
	needed := g.needs()
	for i := range uses {
		use := &uses[i]
		at := types.NamespacedName{Namespace: use.Namespace, Name: use.Name}
		keys, is := needed[at]
		if !carry || !is {
			continue
		}
		secret := &corev1.Secret{}
		there, err := g.read(ctx, at, secret)
		if err != nil {
			return fmt.Errorf("cannot read Secret %s, which --with-secrets is to carry: %w", at, err)
		}
		if !there {
			g.notes = append(g.notes, fmt.Sprintf("Secret %s is not there: it is listed, and not carried", at))
			continue
		}
		secret = moving.StripSecret(secret, keys)
		if why := moving.Refused(secret); why != nil {
			g.notes = append(g.notes, fmt.Sprintf("Secret %s is listed, and not carried: %s", at, why))
			continue
		}
		g.contents.Secrets = append(g.contents.Secrets, secret)
		use.Carried = true
	}
	g.contents.Header.Secrets = uses
	return nil
}

// needs are the Secrets that the objects use which can be moved, and their brokers, with the keys; none:
// all. A binding is not moved without its instance. Where all brokers were asked for, so are their Secrets.
func (g *gatherer) needs() map[types.NamespacedName][]string {
	c, moved := g.contents, &moving.Contents{}
	instances, serving := map[types.NamespacedName]bool{}, map[string]bool{}
	for _, instance := range c.Instances {
		if c.Obstacle(instance) == "" {
			moved.Instances = append(moved.Instances, instance)
			instances[client.ObjectKeyFromObject(instance)] = true
			namespace, class := classOf(&instance.Spec, instance.Namespace)
			serving[titleOf(v1beta1.NewClass(namespace), namespace, class)] = true
		}
	}
	for _, class := range c.Classes {
		if serving[moving.Title(class)] {
			namespace, broker := brokerOf(class)
			serving[titleOf(v1beta1.NewBroker(namespace), namespace, broker)] = true
		}
	}
	for _, broker := range c.Brokers {
		if g.allBrokers || serving[moving.Title(broker)] {
			moved.Brokers = append(moved.Brokers, broker)
		}
	}
	for _, binding := range c.Bindings {
		if instances[binding.InstanceKey()] && c.Obstacle(binding) == "" {
			moved.Bindings = append(moved.Bindings, binding)
		}
	}
	needed := map[types.NamespacedName][]string{}
	for _, use := range moving.SecretsOf(moved) {
		needed[types.NamespacedName{Namespace: use.Namespace, Name: use.Name}] = use.Keys
	}
	return needed
}

// classOf names the class of an instance in a namespace; that of a class of the cluster is empty.
func classOf(spec *v1beta1.ServiceInstanceSpec, of string) (namespace, class string) {
	if spec.ServicePlanRef.GetName() != "" {
		return of, spec.ServiceClassRef.GetName()
	}
	return "", spec.ClusterServiceClassRef.GetName()
}

// brokerOf names the broker of a class; the namespace of one of the cluster is empty.
func brokerOf(class v1beta1.ClassObject) (namespace, broker string) {
	target := class.GetBroker()
	if target.ServiceBrokerName != "" {
		return class.GetNamespace(), target.ServiceBrokerName
	}
	return "", target.ClusterServiceBrokerName
}
