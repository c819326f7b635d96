package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/resolve"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// An explainer explains one question after the other. It only reads.
type explainer struct {
	reader client.Reader
	scheme *runtime.Scheme
	// options are those that the cluster's webhook is taken to have.
	options *options.Options
	// admitted are the instances of the files so far, as admission would store
	// them: bindings of the same files are for them.
	admitted map[client.ObjectKey]*v1beta1.ServiceInstance
}

// ofType explains what an instance gets that asks for a type only.
func (x *explainer) ofType(ctx context.Context, namespace, serviceType string) (Explanation, error) {
	told := Explanation{
		Subject: Subject{Kind: KindType, Namespace: namespace, Name: serviceType}, Asks: map[string]string{"serviceType": serviceType},
	}
	asked := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "explained"}}
	asked.Spec.ServiceType = serviceType
	chosen, err := x.choose(ctx, asked)
	if err != nil {
		return told, err
	}
	if x.options.Gates.Enabled(options.ServiceTypes) && chosen.empty() {
		return told, x.unknownType(ctx, namespace, serviceType)
	}
	if err := x.admit(ctx, chosen, asked); err != nil {
		return told, err
	}
	told.Now, told.Notes = chosen.now, chosen.slice.notes
	return told, nil
}

// unknownType is the error about a type that no plan has.
func (x *explainer) unknownType(ctx context.Context, namespace, name string) error {
	scope := cli.Scope{Cluster: true, Namespaces: true, Namespace: namespace}
	unknown := &catalog.NameError{Kind: "type", Name: name, Where: scope.String()}
	err := catalog.Types(ctx, x.reader, catalog.Query{Scope: scope}, func(t catalog.Type) error {
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

// A chosen is what the rules make of an instance in the slice that it is about.
type chosen struct {
	slice  *slice
	teller *teller
	now    *Now
	// withinClass says that the request names its class.
	withinClass bool
}

// empty says that there is nothing at all that the request could mean.
func (c *chosen) empty() bool {
	if len(c.now.Others)+len(c.now.Records) > 0 {
		return false
	}
	return !slices.ContainsFunc(c.now.Tiers, func(t Tier) bool { return len(t.Claims) > 0 })
}

// choose holds an instance, as its user writes it, against the rules.
func (x *explainer) choose(ctx context.Context, asked *v1beta1.ServiceInstance) (*chosen, error) {
	req, err := resolve.RequestFor(&asked.Spec.PlanReference, asked.Namespace, asked.Namespace+"/"+asked.Name)
	contradiction, _ := errors.AsType[*resolve.Error](err)
	req.Namespace = asked.Namespace
	if x.options.Gates.Enabled(options.ServiceTypes) {
		req.Type, req.Selector = asked.Spec.ServiceType, asked.Spec.PlanSelector
	}
	if contradiction != nil {
		req = resolve.Request{Namespace: asked.Namespace}
	}
	found, err := gather(ctx, x.reader, &req)
	if err != nil {
		return nil, err
	}
	c := &chosen{slice: found, teller: newTeller(&req, found, x.options.Gates), withinClass: req.Class.Value != ""}
	teller := c.teller
	if contradiction != nil {
		teller.account = resolve.Account{Refused: contradiction}
	}
	now := teller.tell()
	c.now = now
	now.Secrets = secretsOf(asked.Spec.ParametersFrom)
	if refused := teller.account.Refused; refused != nil {
		now.Refusal = &Refusal{Reason: string(refused.Reason), Message: refused.Error()}
		return c, nil
	}
	choice := &teller.account.Choice
	class, plan := found.classes[choice.Class.Ref], found.plans[choice.Plan.Ref]
	now.Parameters = mergedParameters(
		x.opened(options.ParameterDefaults, class.Spec.DefaultProvisionParameters),
		x.opened(options.ParameterDefaults, plan.Spec.DefaultProvisionParameters), asked.Spec.Parameters)
	return c, nil
}

// get reads an object; the error about one that is not there lists what there is.
func (x *explainer) get(ctx context.Context, key client.ObjectKey, object client.Object, others client.ObjectList, kind string) error {
	err := x.reader.Get(ctx, key, object)
	if err == nil {
		return nil
	}
	if !apierrors.IsNotFound(err) && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		return fmt.Errorf("cannot get %s %q: %w", kind, key.Name, err)
	}
	unknown := &catalog.NameError{Kind: kind, Name: key.Name, Where: fmt.Sprintf("namespace %q", key.Namespace)}
	err = catalog.Pages(ctx, x.reader, others, func(object runtime.Object) error {
		if one, ok := object.(client.Object); ok {
			unknown.Known = append(unknown.Known, one.GetName())
		}
		return nil
	}, client.InNamespace(key.Namespace))
	if err != nil {
		return err
	}
	slices.Sort(unknown.Known)
	return unknown
}
