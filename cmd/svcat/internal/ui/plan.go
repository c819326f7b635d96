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
	// Trial is what became of a dry run; nil if none was asked for.
	Trial *trial

	class catalog.Class
	plan  catalog.Plan
}

// plan is the page of a plan, with an empty form.
func (s *site) plan(w http.ResponseWriter, r *http.Request) {
	view, err := s.planView(r.Context(), r.PathValue("scope"), r.PathValue("name"))
	if err != nil {
		s.fail(w, r, "plans", err)
		return
	}
	asked := r.URL.Query().Get("type")
	view.Form.ByType = asked != "" && asked == view.Type
	view.Form.Name.Value = "my-" + cmp.Or(view.Type, "instance")
	s.showPlan(w, r, http.StatusOK, view)
}

// tryPlan is the page of a plan after its form was sent: with the result of a dry run,
// or with what is wrong in the form.
func (s *site) tryPlan(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		refuse(w, r, http.StatusBadRequest, "The form could not be read: it is too large, or not a form.")
		return
	}
	view, err := s.planView(r.Context(), r.PathValue("scope"), r.PathValue("name"))
	if err != nil {
		s.fail(w, r, "plans", err)
		return
	}
	if r.PostForm.Get("made") != view.Form.Made {
		view.Form.Name.Value = strings.TrimSpace(r.PostForm.Get("name"))
		view.Form.Trouble = "The plan has changed since this form was shown: fill it in again."
		s.showPlan(w, r, http.StatusConflict, view)
		return
	}
	wanted := view.fill(r.PostForm, s.namespace)
	if view.Form.Problems == 0 {
		if wanted.yaml, view.Form.Trouble, err = wanted.copyable(); err != nil {
			s.fail(w, r, "plans", err)
			return
		}
	}
	if view.Form.Problems > 0 || view.Form.Trouble != "" {
		s.showPlan(w, r, http.StatusUnprocessableEntity, view)
		return
	}
	if view.Trial, err = s.try(r.Context(), wanted); err != nil {
		s.fail(w, r, "plans", err)
		return
	}
	s.showPlan(w, r, http.StatusOK, view)
}

func (s *site) showPlan(w http.ResponseWriter, r *http.Request, code int, view *planView) {
	content := s.page(view.Class+"/"+view.Plan, "plans", nil)
	content.Body = view
	render(w, r, code, "plan", content)
}

// planView reads a plan and its class.
func (s *site) planView(ctx context.Context, scope, name string) (*planView, error) {
	var object client.Object = &v1beta1.ClusterServicePlan{}
	key := client.ObjectKey{Name: name}
	switch scope {
	case ofCluster:
	case ofNamespace:
		object, key.Namespace = &v1beta1.ServicePlan{}, s.namespace
	default:
		return nil, &catalog.NameError{Kind: "plan", Name: name, Where: scope}
	}
	if err := s.client.Get(ctx, key, object); err != nil {
		return nil, err
	}
	plan, _ := catalog.PlanOf(object)
	class, err := catalog.ClassOfPlan(ctx, s.client, plan)
	if err != nil {
		return nil, err
	}
	row := offerOf(&class, &plan)
	effective, err := catalog.EffectivePlansOf(ctx, s.client, key.Namespace, row.Type)
	if _, lacking := lacksOf(err); err != nil && !lacking {
		return nil, err
	}
	view := newPlanView(&row, class, plan)
	if rule, is := effective[row.ref]; is {
		view.Default = rule.Words(s.namespace, row.Class)
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
		Name: field{ID: "instance-name", Name: "name", Required: true}, CanByType: row.Type != "", Type: row.Type,
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
