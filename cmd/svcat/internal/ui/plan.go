package ui

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/rights"
	"github.com/defaultplan/defaultplan/merge"
)

// A planView is the page of a plan.
type planView struct {
	offer

	State                                string
	Broker                               string
	DisplayName, Long, Provider, Support string
	Documentation                        string
	// About is what the class says of itself, and Tags are its words.
	About, Tags string
	Bullets     []string
	// Default is what makes it the default of its type, empty if nothing does.
	Default string
	// Form is what can be asked for; Raw is the schema as it came, empty for none.
	Form form
	Raw  string
	// TypeLink is the page of its type, and CreateLink where its order is sent to.
	TypeLink, CreateLink string
	// Namespace is where the order is for.
	Namespace string
	// Trial is what became of a dry run; nil if none was asked for.
	Trial *trial

	class catalog.Class
	plan  catalog.Plan
}

// plan is the page of a plan, with an empty form.
func (p catalogPages) plan(r *http.Request) (*answer, error) {
	view, err := p.offers.plan(r.Context(), r.PathValue("scope"), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	asked := r.URL.Query().Get("type")
	view.Form.ByType = asked != "" && asked == view.Type
	view.Form.Name.Value = "my-" + cmp.Or(view.Type, "instance")
	return view.answer(http.StatusOK), nil
}

// tryPlan is the page of a plan after its form was sent: with the result of a dry run,
// or with what is wrong in the form.
func (p catalogPages) tryPlan(r *http.Request) (*answer, error) {
	view, err := p.offers.plan(r.Context(), r.PathValue("scope"), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	if r.PostForm.Get("made") != view.Form.Made {
		view.Form.Name.Value = strings.TrimSpace(r.PostForm.Get("name"))
		view.Form.Trouble = "The plan has changed since this form was shown: fill it in again."
		return view.answer(http.StatusConflict), nil
	}
	wanted := view.fill(r.PostForm, p.offers.namespace)
	if view.Form.Problems == 0 {
		if wanted.yaml, view.Form.Trouble, err = wanted.copyable(); err != nil {
			return nil, err
		}
	}
	if view.Form.Problems > 0 || view.Form.Trouble != "" {
		return view.answer(http.StatusUnprocessableEntity), nil
	}
	if view.Trial, err = p.requests.try(r.Context(), wanted, view.Form.Made); err != nil {
		return nil, err
	}
	view.Form.blame(view.Trial.refused)
	if err := p.offerToCreate(r.Context(), view.Trial, wanted); err != nil {
		return nil, err
	}
	return view.answer(http.StatusOK), nil
}

// offerToCreate adds the ways in which what was admitted is created: a command, and, where
// the page may create, what its button sends.
func (p catalogPages) offerToCreate(ctx context.Context, tried *trial, wanted *wish) error {
	tried.Svcat, tried.NoSvcat = wanted.command(ctx, p.offers.reader, p.flags)
	if !tried.Admitted() || p.seal == nil {
		return nil
	}
	if at := p.offers.place; at.Chosen() != "" {
		tried.NoOrder = "There is no button to create it, because svcat ui was started for namespace " + at.started +
			", and creates nothing elsewhere. Use the command or the YAML, or start it with" + at.flag() + "."
		return nil
	}
	if wanted.secret != "" {
		tried.NoOrder = "There is no button to create it, because parameters come from a Secret: whatever could use this page would have the broker get it. Use the command or the YAML."
		return nil
	}
	manifest, err := wanted.manifest()
	tried.Order = p.seal.order(manifest, tried.given)
	return err
}

func (v *planView) answer(code int) *answer {
	return &answer{title: v.Class + "/" + v.Plan, body: v, code: code}
}

// plan reads a plan and its class.
func (m market) plan(ctx context.Context, scope, name string) (*planView, error) {
	namespace, known := map[string]string{ofCluster: "", ofNamespace: m.namespace}[scope]
	if !known {
		return nil, &catalog.NameError{Kind: "plan", Name: name, Where: scope}
	}
	object := v1beta1.NewPlan(namespace)
	if err := m.reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object); err != nil {
		return nil, err
	}
	plan, _ := catalog.PlanOf(object)
	class, err := catalog.ClassOfPlan(ctx, m.reader, plan)
	if err != nil {
		return nil, err
	}
	row := m.offerOf(&class, &plan)
	effective, err := catalog.EffectivePlansOf(ctx, m.reader, namespace, row.Type)
	if _, lacking := rights.MissingIn(err); err != nil && !lacking {
		return nil, err
	}
	view := newPlanView(&row, class, plan)
	view.Namespace = m.namespace
	view.TypeLink, view.CreateLink = m.Link(typePath(row.Type)), m.Link(pathOf(row.ref)+"/create")
	if rule, is := effective[row.ref]; is {
		view.Default = rule.Words(m.namespace, row.Class)
	}
	return view, nil
}

// newPlanView shows a plan without saying whether it is a default.
func newPlanView(row *offer, class catalog.Class, plan catalog.Plan) *planView {
	ofClass, ofPlan := metadataOf(class.Spec.ExternalMetadata), metadataOf(plan.Spec.ExternalMetadata)
	view := &planView{
		offer: *row, class: class, plan: plan,
		State: plan.State(), Broker: plan.Broker, Bullets: ofPlan.bullets(), About: class.Spec.Description, Tags: strings.Join(class.Spec.Tags, ", "),
		DisplayName: ofPlan.text("displayName"), Long: ofClass.text("longDescription"), Provider: ofClass.text("providerDisplayName"),
		Documentation: ofClass.text("documentationUrl"), Support: ofClass.text("supportUrl"),
	}
	if class.State() != catalog.Active {
		view.State = class.State()
	}
	preset := presetOf(&class, &plan)
	schema := rawOf(plan.Spec.InstanceCreateParameterSchema)
	if len(schema) > 0 {
		view.Raw = indented(schema)
	}
	view.Form = form{
		Name: field{ID: "instance-name", Name: "name", Required: true}, CanByType: row.Type != "", Type: row.Type, Action: row.Link,
		Fields: fieldsOf(schema, &preset), More: field{ID: "more", Name: "more", Kind: kindJSON},
		Secret: field{ID: "secret", Name: "secret"}, Key: field{ID: "secret-key", Name: "key"},
		Made: madeOf(row, schema),
	}
	return view
}

// presetOf are the parameters that class and plan give to an instance that says
// nothing. What cannot be merged is admission's to complain about.
func presetOf(class *catalog.Class, plan *catalog.Plan) merge.Result {
	var layers []merge.Layer
	for _, given := range []struct {
		name string
		raw  *runtime.RawExtension
	}{{"class", class.Spec.DefaultProvisionParameters}, {"plan", plan.Spec.DefaultProvisionParameters}} {
		layers = append(layers, merge.Layer{Name: given.name, Values: metadataOf(given.raw)})
	}
	merged, err := merge.Layers(append(layers, merge.Layer{Name: "user"})...)
	if err != nil {
		return merge.Result{}
	}
	return merged
}

func rawOf(extension *runtime.RawExtension) []byte {
	if extension == nil || string(extension.Raw) == "null" {
		return nil
	}
	return extension.Raw
}
