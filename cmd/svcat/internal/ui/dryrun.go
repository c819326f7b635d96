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

// A trial is what became of a dry run.
type trial struct {
	YAML string
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
}

// Admitted says that the dry run went through.
func (t *trial) Admitted() bool { return t.Denial == "" && len(t.Lacks) == 0 }

// dryRuns are asked of an API server, for instances in a namespace.
type dryRuns struct {
	client    client.Writer
	namespace string
}

// try asks the API server for a dry run of what is copied, and reads its answer. Its
// error is one of the connection; what the API server refuses is in the trial.
func (d dryRuns) try(ctx context.Context, wanted *wish) (*trial, error) {
	object, err := objectOf(wanted.yaml)
	if err != nil {
		return nil, err
	}
	tried := &trial{YAML: wanted.yaml, Nulls: hasNull(wanted.parameters)}
	listening, heard := listenFor(ctx)
	err = d.client.Create(listening, object, client.DryRunAll, client.FieldOwner("svcat"))
	tried.Warnings = heard.texts
	lacks, all := rights.MissingIn(err)
	switch {
	case all && forbidsCreate(lacks, d.namespace):
		tried.Lacks = lacks
		return tried, nil
	case isAnswer(err):
		tried.Denial = cli.Message(err)
		return tried, nil
	case err != nil:
		return nil, fmt.Errorf("cannot ask for a dry run: %w", err)
	}
	return tried, tried.read(object, wanted.secrets)
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
