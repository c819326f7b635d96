package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// An Asker explains one question after the other. It only reads, and each answer is of the
// cluster as it is then.
type Asker struct {
	reader    client.Reader
	chooser   chooser
	admission admission
	// admitted are the instances of the files so far, as admission would store
	// them: bindings of the same files are for them.
	admitted map[client.ObjectKey]*v1beta1.ServiceInstance
}

// NewAsker returns an Asker that reads with a reader, for a webhook of these options.
func NewAsker(reader client.Reader, options *options.Options) (*Asker, error) {
	scheme, err := cli.Scheme()
	if err != nil {
		return nil, err
	}
	return &Asker{
		reader: reader, chooser: chooser{reader, options.Gates}, admission: admission{scheme, options},
		admitted: map[client.ObjectKey]*v1beta1.ServiceInstance{},
	}, nil
}

// Type explains what an instance in the namespace gets that asks for the type only. The
// error about a type that no plan has is a *catalog.NameError.
func (a *Asker) Type(ctx context.Context, namespace, serviceType string) (Explanation, error) {
	told := Explanation{
		Subject: Subject{Kind: KindType, Namespace: namespace, Name: serviceType}, Asks: map[string]string{"serviceType": serviceType},
	}
	asked := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "explained"}}
	asked.Spec.ServiceType = serviceType
	chosen, err := a.chooser.choose(ctx, asked)
	if err != nil {
		return told, err
	}
	if a.chooser.gates.Enabled(options.ServiceTypes) && chosen.empty() {
		return told, unknownType(ctx, a.reader, namespace, serviceType)
	}
	if _, err := a.admission.apply(ctx, chosen.now, chosen.matter(), asked); err != nil {
		return told, err
	}
	told.Now, told.Notes = chosen.now, chosen.slice.notes
	return told, nil
}

// unknownType is the error about a type that no plan has.
func unknownType(ctx context.Context, reader client.Reader, namespace, name string) error {
	scope := marketplace(namespace)
	unknown := &catalog.NameError{Kind: "type", Name: name, Where: scope.String()}
	err := catalog.Types(ctx, reader, catalog.Query{Scope: scope}, func(t catalog.Type) error {
		unknown.Known = append(unknown.Known, t.Object.GetName())
		return nil
	})
	if err != nil {
		return err
	}
	slices.Sort(unknown.Known)
	unknown.Known = slices.Compact(unknown.Known)
	return unknown
}

// Types explains every type that plans have which an instance in the namespace could
// get, and every type that has a record, sorted by name. It goes by the rules and by the
// policies; admission itself is asked by Type only. denied are the lists that the user
// may not read, nil if none: what is told goes by the others.
func (a *Asker) Types(ctx context.Context, namespace string) (told []Explanation, denied, err error) {
	g := gatherer{a.reader, newSlice()}
	var refusals []error
	jobs := g.rulesOf(namespace)
	lists := append(g.everything(namespace), func(ctx context.Context) error {
		return catalog.Types(ctx, g.reader, catalog.Query{Scope: cli.ScopeOf("")}, g.addType)
	}, func(ctx context.Context) error {
		return catalog.Types(ctx, g.reader, catalog.Query{Scope: cli.ScopeOf(namespace)}, g.addType)
	})
	for _, list := range lists {
		jobs = append(jobs, func(ctx context.Context) error {
			err := list(ctx)
			if !apierrors.IsForbidden(err) {
				return err
			}
			return g.change(func() { refusals = append(refusals, err) })
		})
	}
	if err := together(ctx, jobs...); err != nil {
		return nil, nil, err
	}
	for name, part := range g.byType() {
		told = append(told, a.chooser.overview(namespace, name, part))
	}
	slices.SortFunc(told, func(a, b Explanation) int { return cmp.Compare(a.Subject.Name, b.Subject.Name) })
	slices.SortFunc(refusals, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return told, errors.Join(refusals...), nil
}

// get reads an object; the error about one that is not there lists what there is.
func get(ctx context.Context, reader client.Reader, key client.ObjectKey, object client.Object, others client.ObjectList, kind string) error {
	err := reader.Get(ctx, key, object)
	switch {
	case err == nil:
		return nil
	case isAbsent(err):
		return catalog.Unknown(ctx, reader, kind, key.Namespace, key.Name, others)
	}
	return fmt.Errorf("cannot get %s %q: %w", kind, key.Name, err)
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
