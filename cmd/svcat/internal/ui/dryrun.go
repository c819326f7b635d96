package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/explain"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/rights"
	"github.com/defaultplan/defaultplan/merge"
)

// A trial is what became of a dry run, or of the creation that followed it.
type trial struct {
	// YAML is the manifest, and Svcat the command that creates the same; empty where
	// NoSvcat says that none does.
	YAML, Svcat, NoSvcat string
	// Order is what the button that creates it sends; nil without one, and NoOrder may say why.
	Order   *order
	NoOrder string
	// Real says that it was no dry run.
	Real bool
	// Nulls says that a client-side apply would leave something out of it.
	Nulls bool
	// Denial is admission's own words; empty where it admits.
	Denial string
	Lacks  []rights.Missing
	// Gives is the plan, and why it is that one; Waits says that none is decided yet.
	Gives      string
	Waits      bool
	Warnings   []string
	Parameters parameters

	// refused is what the API server answered, nil where it admits; given is the sum of what it gives.
	refused error
	given   string
}

// Admitted says that the dry run went through.
func (t *trial) Admitted() bool { return t.Denial == "" && len(t.Lacks) == 0 }

// requests are sent to an API server, for instances in a namespace.
type requests struct {
	client    client.Writer
	namespace string
}

// try asks the API server for a dry run of what is copied, and reads its answer. Its
// error is one of the connection; what the API server refuses is in the trial.
func (q requests) try(ctx context.Context, wanted *wish, made string) (*trial, error) {
	object, err := objectOf(wanted.yaml)
	if err != nil {
		return nil, err
	}
	tried := &trial{YAML: wanted.yaml, Nulls: hasNull(wanted.parameters)}
	if err := q.send(ctx, object, tried, client.DryRunAll); err != nil {
		return nil, fmt.Errorf("cannot ask for a dry run: %w", err)
	}
	if !tried.Admitted() {
		return tried, nil
	}
	tried.given = givenOf(object, made)
	return tried, tried.read(object, wanted.secrets)
}

// send asks the API server to create an object. What it refuses, and its warnings, are put
// into the trial; the error is one of the connection.
func (q requests) send(ctx context.Context, object *unstructured.Unstructured, into *trial, how ...client.CreateOption) error {
	listening, heard := listenFor(ctx)
	err := q.client.Create(listening, object, append(how, client.FieldOwner("svcat"))...)
	into.Warnings = heard.texts
	lacks, all := rights.MissingIn(err)
	switch {
	case all && forbidsCreate(lacks, q.namespace):
		into.Lacks = lacks
	case isAnswer(err):
		into.Denial, into.refused = cli.Message(err), err
	case err != nil:
		return err
	}
	return nil
}

// read takes over what admission made of the object.
func (t *trial) read(object *unstructured.Unstructured, secrets []merge.Pointer) error {
	instance := &v1beta1.ServiceInstance{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, instance); err != nil {
		return fmt.Errorf("cannot read what the API server answered: %w", err)
	}
	class, plan := catalog.ClassAndPlan(instance)
	t.Waits = !instance.Spec.Decided()
	t.Gives = strings.Trim(class+"/"+plan, "/")
	if reason := explain.Reason(&instance.ObjectMeta, class); reason != "" {
		t.Gives += " (" + reason + ")"
	}
	t.Parameters = parametersOf(&instance.ObjectMeta, instance.Spec.Parameters, instance.Spec.ParametersFrom, nil)
	t.Parameters.withhold(secrets)
	return nil
}

// isAnswer says that the API server refused, rather than that it was not reached.
func isAnswer(err error) bool {
	_, is := errors.AsType[*apierrors.StatusError](err)
	return is
}

// forbidsCreate says that an error is the authorizer's about an instance in a namespace,
// and not another that something else made of that request.
func forbidsCreate(lacks []rights.Missing, namespace string) bool {
	return !slices.ContainsFunc(lacks, func(l rights.Missing) bool {
		return l.Verb != "create" || l.Resource != "serviceinstances" || l.Where != "in namespace "+namespace
	})
}

// hasNull says that a null is among the values: kubectl apply leaves it out.
func hasNull(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			if inner == nil || hasNull(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasNull)
	}
	return false
}
