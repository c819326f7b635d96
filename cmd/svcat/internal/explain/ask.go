package explain

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// An Asker explains to other commands of svcat, in the words of explain. It only
// reads, and keeps nothing: each answer is of the cluster as it is then.
type Asker struct {
	reader  client.Reader
	scheme  *runtime.Scheme
	options *options.Options
}

// NewAsker returns an Asker that reads with a reader, for a webhook of these options.
func NewAsker(reader client.Reader, options *options.Options) (*Asker, error) {
	scheme, err := cli.Scheme()
	if err != nil {
		return nil, err
	}
	return &Asker{reader: reader, scheme: scheme, options: options}, nil
}

// Type explains what an instance in the namespace gets that asks for the type only. The
// error about a type that no plan has is a *catalog.NameError.
func (a *Asker) Type(ctx context.Context, namespace, serviceType string) (Explanation, error) {
	return a.explainer().ofType(ctx, namespace, serviceType)
}

// Instance explains an instance of the cluster; the error about one that is not there
// is a *catalog.NameError.
func (a *Asker) Instance(ctx context.Context, key client.ObjectKey) (Explanation, error) {
	return a.explainer().storedInstance(ctx, key)
}

// Binding is as Instance.
func (a *Asker) Binding(ctx context.Context, key client.ObjectKey) (Explanation, error) {
	return a.explainer().storedBinding(ctx, key)
}

func (a *Asker) explainer() *explainer {
	return &explainer{reader: a.reader, scheme: a.scheme, options: a.options, admitted: map[client.ObjectKey]*v1beta1.ServiceInstance{}}
}

// Headline is the subject and what it gets, in the one line that explain begins with.
func (e *Explanation) Headline() string { return e.headline() }

// Tree is the explanation as explain prints it, without colours.
func (e *Explanation) Tree() string {
	var text strings.Builder
	// A Builder takes everything.
	_ = drawTrees(&text, []node{e.tree()}, false)
	return text.String()
}

// Path is the name of a parameter as explain writes it: "network.cidr".
func (p *Parameter) Path() string {
	name := strings.ReplaceAll(strings.TrimPrefix(p.Pointer, "/"), "/", ".")
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
}

// ParametersOf are the parameters of an admitted object, each with its origin. known says
// that admission recorded origins: it does not of what came with its references.
func ParametersOf(meta *metav1.ObjectMeta, stored *runtime.RawExtension) (parameters []Parameter, known bool) {
	applied := appliedOf(meta)
	return storedParameters(stored, &applied), applied.Rule != "" && applied.Rule != ruleRestored
}

// Reason is the rule by which the plan of an admitted object was chosen, in words;
// empty where none is on record. class is the name of the chosen class.
func Reason(meta *metav1.ObjectMeta, class string) string {
	return reason(appliedOf(meta).Rule, meta.Namespace, &Plan{Class: class})
}
