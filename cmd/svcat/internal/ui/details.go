package ui

import (
	"cmp"
	"errors"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/explain"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/rights"
	"github.com/defaultplan/defaultplan/webhook/suggest"
)

// A fact is a line of what is known of an object.
type fact struct{ Name, Text string }

// facts leaves out those that say nothing.
func facts(all ...fact) []fact {
	var known []fact
	for _, one := range all {
		if one.Text != "" {
			known = append(known, one)
		}
	}
	return known
}

// A detail is the page of an instance or binding.
type detail struct {
	Name, State, Look string
	Facts             []fact
	Parameters        parameters
	Transforms        []explain.Transform
	Conditions        []v1beta1.Condition
	// Progress is how far an instance is that is not ready yet; nil if it is, or has failed.
	Progress []progressStep
	// Bindings are those of an instance; NoBindings says that they may not be listed.
	Bindings   []bindingRow
	NoBindings bool
	// Describe is the command that shows the keys of a binding's Secret.
	Describe string
	// Difference and Tree are svcat explain's; empty where they cannot be told.
	Difference, Tree string
	Notes            []string
}

// explain takes over what svcat explain says, if nothing kept it from that.
func (d *detail) explain(told *explain.Explanation, untold error) {
	if untold != nil {
		return
	}
	d.Difference, d.Tree, d.Notes = told.Difference, told.Tree(), told.Notes
	if told.Then != nil {
		d.Transforms = told.Then.Transforms
	}
}

// instance is the page of an instance.
func (p orderPages) instance(r *http.Request) (*answer, error) {
	found, err := catalog.Instance(r.Context(), p.reader, p.namespace, r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	row := p.instanceRowOf(found)
	bindings, noBindings := p.bindingRows(r.Context(), found.Name)
	told, untold := p.asker.Instance(r.Context(), client.ObjectKeyFromObject(found))
	missing := errors.Join(noBindings, untold)
	if _, lacking := rights.MissingIn(missing); missing != nil && !lacking {
		return nil, missing
	}
	var sent *runtime.RawExtension
	if state := found.Status.ExternalProperties; state != nil {
		sent = state.Parameters
	}
	shown := &detail{
		Name: found.Name, State: row.State, Look: row.Look, Bindings: bindings, NoBindings: noBindings != nil,
		Facts: facts(
			fact{"Type", row.Type}, fact{"Class", row.Class}, fact{"Plan", row.Plan}, fact{"Chosen by", explain.Reason(&found.ObjectMeta, row.Class)},
			fact{"External ID", cmp.Or(found.Status.ExternalID, found.Spec.ExternalID)}, fact{"Operation", string(found.Status.CurrentOperation)},
			fact{"Dashboard", ptr.Deref(found.Status.DashboardURL, "")},
		),
		Conditions: found.Status.Conditions, Parameters: parametersOf(&found.ObjectMeta, found.Spec.Parameters, found.Spec.ParametersFrom, sent),
		Progress: progressOf(found, row.Look),
	}
	shown.explain(&told, untold)
	return &answer{title: found.Name, missing: missing, body: shown}, nil
}

// A progressStep is one on the way of an instance until it is ready.
type progressStep struct{ Name, State string }

// progressOf are the steps of an instance that is on its way: the first that is not done is
// the one that is waited for.
func progressOf(instance *v1beta1.ServiceInstance, look string) []progressStep {
	if look != waiting || !instance.DeletionTimestamp.IsZero() {
		return nil
	}
	steps := []progressStep{{"Created", ""}, {"Plan decided", ""}, {"Requested from its broker", ""}, {"Ready", ""}}
	done := 1
	if instance.Spec.Decided() {
		done++
		if instance.Status.ExternalProperties != nil || instance.Status.InProgressProperties != nil {
			done++
		}
	}
	for i := range steps {
		switch {
		case i < done:
			steps[i].State = "done"
		case i == done:
			steps[i].State = "waiting"
		default:
			steps[i].State = "to come"
		}
	}
	return steps
}

// binding is the page of a binding. Its Secret is named, and not read.
func (p orderPages) binding(r *http.Request) (*answer, error) {
	found, err := catalog.Binding(r.Context(), p.reader, p.namespace, r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	told, untold := p.asker.Binding(r.Context(), client.ObjectKeyFromObject(found))
	if _, lacking := rights.MissingIn(untold); untold != nil && !lacking {
		return nil, untold
	}
	var sent *runtime.RawExtension
	if state := found.Status.ExternalProperties; state != nil {
		sent = state.Parameters
	}
	row := p.bindingRowOf(found)
	shown := &detail{
		Name: found.Name, State: row.State, Look: row.Look, Describe: "svcat describe binding " + suggest.Word(found.Name) + p.flag() + p.flags,
		Facts: facts(
			fact{"Instance", row.Instance}, fact{"Secret", row.Secret}, fact{"External ID", cmp.Or(found.Status.ExternalID, found.Spec.ExternalID)},
			fact{"Operation", string(found.Status.CurrentOperation)},
		),
		Conditions: found.Status.Conditions, Parameters: parametersOf(&found.ObjectMeta, found.Spec.Parameters, found.Spec.ParametersFrom, sent),
	}
	shown.explain(&told, untold)
	return &answer{title: found.Name, missing: untold, body: shown}, nil
}
