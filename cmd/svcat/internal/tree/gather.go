package tree

import (
	"cmp"
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// The kinds of nodes.
const (
	kindInstance = "instance"
	kindBinding  = "binding"
	kindType     = "type"
	kindPlan     = "plan"
	kindSecret   = "secret"
)

// A Node is an object, with what belongs to it.
type Node struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Ready is the status of the condition Ready, and Reason why; empty where an object has no
	// conditions.
	Ready  string `json:"ready,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Note says what the object is to the one above it, or what could not be read.
	Note     string  `json:"note,omitempty"`
	Children []*Node `json:"children,omitempty"`
}

// A gatherer reads what belongs together.
type gatherer struct {
	reader    client.Reader
	namespace string
	// bindings are those that were read, by their instance; limited says that they are only
	// those of the current namespace.
	bindings map[types.NamespacedName][]*v1beta1.ServiceBinding
	limited  bool
}

// instances are all of the namespace, or of all namespaces.
func (g *gatherer) instances(ctx context.Context, all bool) ([]*Node, error) {
	in := g.namespace
	if all {
		in = ""
	}
	found, err := g.list(ctx, in, func(*v1beta1.ServiceInstance) bool { return true })
	if err != nil {
		return nil, err
	}
	roots := make([]*Node, 0, len(found))
	for _, instance := range found {
		root, err := g.instance(ctx, instance)
		if err != nil {
			return nil, err
		}
		roots = append(roots, root)
	}
	return roots, nil
}

// list are the instances of a namespace, or of all, that are wanted, sorted.
func (g *gatherer) list(ctx context.Context, namespace string, wanted func(*v1beta1.ServiceInstance) bool) ([]*v1beta1.ServiceInstance, error) {
	var found []*v1beta1.ServiceInstance
	err := catalog.Pages(ctx, g.reader, &v1beta1.ServiceInstanceList{}, func(object runtime.Object) error {
		if instance, is := object.(*v1beta1.ServiceInstance); is && wanted(instance) {
			found = append(found, instance)
		}
		return nil
	}, client.InNamespace(namespace))
	slices.SortFunc(found, func(a, b *v1beta1.ServiceInstance) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return found, err
}

// instance is one with its plan and its bindings, of all namespaces.
func (g *gatherer) instance(ctx context.Context, instance *v1beta1.ServiceInstance) (*Node, error) {
	if err := g.readBindings(ctx); err != nil {
		return nil, err
	}
	root := bare(instance)
	for _, binding := range g.bindings[client.ObjectKeyFromObject(instance)] {
		node := bindingNode(binding)
		switch {
		case binding.Dedicated():
			node.Note = "the instance is its own"
		case binding.Namespace != instance.Namespace:
			node.Note = "in another namespace"
		}
		root.Children = append(root.Children, node)
	}
	if g.limited && instance.Spec.Sharing != nil {
		root.Note = "its bindings in other namespaces are not shown: you may not list them"
	}
	return root, nil
}

// bare is an instance with its plan alone.
func bare(instance *v1beta1.ServiceInstance) *Node {
	node := stands(&Node{Kind: kindInstance, Namespace: instance.Namespace, Name: instance.Name}, instance.Status.Conditions)
	if class, plan := catalog.ClassAndPlan(instance); class != "" || plan != "" {
		node.Children = []*Node{{Kind: kindPlan, Name: strings.Trim(class+"/"+plan, "/")}}
	}
	return node
}

// bindingNode is a binding with its Secret.
func bindingNode(binding *v1beta1.ServiceBinding) *Node {
	node := stands(&Node{Kind: kindBinding, Namespace: binding.Namespace, Name: binding.Name}, binding.Status.Conditions)
	node.Children = []*Node{{Kind: kindSecret, Namespace: binding.Namespace, Name: cmp.Or(binding.Spec.SecretName, binding.Name)}}
	return node
}

// binding is one with its Secret and its instance, which may be its own.
func (g *gatherer) binding(ctx context.Context, binding *v1beta1.ServiceBinding) (*Node, error) {
	root, of := bindingNode(binding), catalog.InstanceOf(binding)
	if of.Name == "" {
		root.Note = "its own instance is not there yet"
		return root, nil
	}
	instance := &v1beta1.ServiceInstance{}
	err := g.reader.Get(ctx, of, instance)
	node := bare(instance)
	switch {
	case apierrors.IsNotFound(err):
		node = &Node{Kind: kindInstance, Namespace: of.Namespace, Name: of.Name, Note: "is not there"}
	case apierrors.IsForbidden(err):
		node = &Node{Kind: kindInstance, Namespace: of.Namespace, Name: of.Name, Note: "you may not read it"}
	case err != nil:
		return nil, err
	case binding.Dedicated():
		node.Note = "its own"
	}
	root.Children = append(root.Children, node)
	return root, nil
}

// serviceType is one with its default plan and the instances that ask for it.
func (g *gatherer) serviceType(ctx context.Context, t catalog.Type) (*Node, error) {
	root := &Node{Kind: kindType, Namespace: t.Object.GetNamespace(), Name: t.Object.GetName()}
	switch {
	case t.Status.DefaultPlan != "":
		root.Children = append(root.Children, &Node{Kind: kindPlan, Name: t.Status.DefaultPlan, Note: "default"})
	case t.Status.SuggestedPlan != "":
		root.Children = append(root.Children, &Node{Kind: kindPlan, Name: t.Status.SuggestedPlan, Note: "suggested"})
	default:
		root.Note = "it has no default plan"
	}
	asks := func(i *v1beta1.ServiceInstance) bool { return i.Spec.ServiceType == t.Object.GetName() }
	// An empty namespace lists those of all namespaces: a type of the cluster is for all.
	users, err := g.list(ctx, t.Object.GetNamespace(), asks)
	if apierrors.IsForbidden(err) {
		root.Note = strings.TrimPrefix(root.Note+"; only instances of namespace "+g.namespace+" are shown: you may not list others", "; ")
		users, err = g.list(ctx, g.namespace, asks)
	}
	if err != nil {
		return nil, err
	}
	for _, user := range users {
		root.Children = append(root.Children, bare(user))
	}
	return root, nil
}

// readBindings reads all bindings once, or those of the current namespace for a user who may
// not list more.
func (g *gatherer) readBindings(ctx context.Context) error {
	if g.bindings != nil {
		return nil
	}
	err := g.bindingsOf(ctx, "")
	if apierrors.IsForbidden(err) {
		g.limited = true
		err = g.bindingsOf(ctx, g.namespace)
	}
	return err
}

func (g *gatherer) bindingsOf(ctx context.Context, namespace string) error {
	g.bindings = map[types.NamespacedName][]*v1beta1.ServiceBinding{}
	err := catalog.Pages(ctx, g.reader, &v1beta1.ServiceBindingList{}, func(object runtime.Object) error {
		if binding, is := object.(*v1beta1.ServiceBinding); is {
			of := catalog.InstanceOf(binding)
			g.bindings[of] = append(g.bindings[of], binding)
		}
		return nil
	}, client.InNamespace(namespace))
	for of, all := range g.bindings {
		slices.SortFunc(all, func(a, b *v1beta1.ServiceBinding) int {
			// Those of the instance's own namespace come first.
			return cmp.Or(strings.Compare(order(a, of), order(b, of)), strings.Compare(a.Name, b.Name))
		})
	}
	return err
}

func order(binding *v1beta1.ServiceBinding, of types.NamespacedName) string {
	if binding.Namespace == of.Namespace {
		return ""
	}
	return binding.Namespace
}

// stands fills in whether a node is ready.
func stands(node *Node, conditions []v1beta1.Condition) *Node {
	node.Ready = string(v1beta1.ConditionUnknown)
	node.Reason = catalog.Pending
	if ready, known := v1beta1.FindCondition(conditions, v1beta1.ConditionReady); known {
		node.Ready, node.Reason = string(ready.Status), ready.Reason
	}
	return node
}

// title is what a node is called where a namespace is current.
func (n *Node) title(current string) string {
	name := n.Name
	if n.Namespace != current {
		name = cli.Qualified(n.Namespace, n.Name)
	}
	return n.Kind + " " + name
}
