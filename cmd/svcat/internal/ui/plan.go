package ui

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
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

// A form is what an instance of a plan can be asked for with.
type form struct {
	Name field
	// ByType says that the type is asked for, and not this plan by its name; it can be
	// said only where CanByType.
	ByType, CanByType bool
	Type              string
	Fields            []field
	More              field
	Secret, Key       field
	// Problems is how many fields are not right.
	Problems int
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
	wanted := view.fill(r.PostForm, s.namespace)
	if view.Form.Problems > 0 {
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
	standing, err := catalog.StandingOf(ctx, s.client, key.Namespace, row.Type)
	if _, lacking := lacksOf(err); err != nil && !lacking {
		return nil, err
	}
	view := newPlanView(&row, class, plan)
	if rule, stands := standing[row.ref]; stands {
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

// fill reads the form. What is wrong stands in the fields.
func (v *planView) fill(values url.Values, namespace string) *wish {
	read := &filled{values: values}
	form := &v.Form
	form.ByType = form.CanByType && values.Get("how") == "type"
	wanted := &wish{namespace: namespace, class: &v.class, plan: &v.plan, parameters: read.object(form.Fields)}
	if form.ByType {
		wanted.serviceType = v.Type
	}
	v.more(read, wanted)
	for field, into := range map[*field]*string{&form.Name: &wanted.name, &form.Secret: &wanted.secret, &form.Key: &wanted.key} {
		field.Value = strings.TrimSpace(values.Get(field.Name))
		if field.Problem = unkept(field.Value); field.Problem != "" {
			read.problems++
		}
		*into = field.Value
	}
	if wanted.name == "" {
		form.Name.Problem = "The instance needs a name."
		read.problems++
	}
	if (wanted.secret == "") != (wanted.key == "") {
		form.Secret.Problem = "A Secret is named together with its key."
		read.problems++
	}
	form.Problems = read.problems
	return wanted
}

// more reads the parameters that the form has no fields for.
func (v *planView) more(read *filled, wanted *wish) {
	value, given := read.value(&v.Form.More)
	if !given {
		return
	}
	object, is := value.(map[string]any)
	if !is {
		v.Form.More.Problem = `This is no JSON object, such as {"size": 5}.`
		read.problems++
		return
	}
	var both []string
	for name := range object {
		if _, twice := wanted.parameters[name]; twice {
			both = append(both, name)
		}
	}
	if len(both) > 0 {
		slices.Sort(both)
		v.Form.More.Problem = "This is filled in above, too: " + strings.Join(both, ", ") + "."
		read.problems++
		return
	}
	if wanted.parameters == nil {
		wanted.parameters = object
		return
	}
	maps.Copy(wanted.parameters, object)
}
