package ui

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/defaultplan/defaultplan/merge"
)

// A form is what an instance of a plan can be asked for with.
type form struct {
	Name field
	// ByType says that the type is asked for, and not this plan by its name; it can be
	// said only where CanByType.
	ByType, CanByType bool
	Type              string
	// Action is the address that it is sent to.
	Action      string
	Fields      []field
	More        field
	Secret, Key field
	// Problems is how many fields are not right; Trouble is what is wrong with the whole.
	Problems int
	Trouble  string
	// Made is the mark of what the form was made of.
	Made string
}

// madeOf is a mark of what a form asks: fields are known by their number in the schema,
// and what is typed belongs to the plan that was shown.
func madeOf(row *offer, schema []byte) string {
	sum := sha256.Sum256([]byte(compact([]string{row.Class, row.Plan, row.Type, row.Link, string(schema)})))
	return hex.EncodeToString(sum[:])
}

// blame puts what was refused beside the fields that it is about. What is about none stands
// in the message alone, and so do the ways out.
func (f *form) blame(refused error) {
	status, is := errors.AsType[*apierrors.StatusError](refused)
	if !is {
		return
	}
	if apierrors.IsAlreadyExists(status) {
		f.Name.Problem = "An instance of this name exists already: choose another name."
	}
	if status.ErrStatus.Details == nil {
		return
	}
	for _, cause := range status.ErrStatus.Details.Causes {
		if one := f.about(cause.Field); one != nil && one.Problem == "" {
			one.Problem, _, _ = strings.Cut(cause.Message, "\n")
		}
	}
}

// about is the field for what a refusal is about; nil if there is none, or if it is of a
// secret value, which a message may quote.
func (f *form) about(path string) *field {
	if path == "metadata.name" {
		return &f.Name
	}
	if strings.HasPrefix(path, "spec.parametersFrom") {
		return &f.Secret
	}
	pointer, is := strings.CutPrefix(path, "spec.parameters/")
	if !is {
		return nil
	}
	return fieldAt(f.Fields, merge.Pointer("/"+pointer))
}

// fieldAt is the field that holds what a pointer leads to.
func fieldAt(fields []field, at merge.Pointer) *field {
	for i := range fields {
		one := &fields[i]
		switch {
		case !strings.HasPrefix(string(at)+"/", string(one.Pointer)+"/"):
		case one.Kind == kindGroup:
			return fieldAt(one.Fields, at)
		case !one.Secret:
			return one
		}
	}
	return nil
}

// fill reads the form. What is wrong stands in the fields.
func (v *planView) fill(values url.Values, namespace string) *wish {
	read := &filled{values: values}
	form := &v.Form
	form.ByType = form.CanByType && values.Get("how") == "type"
	wanted := &wish{namespace: namespace, class: &v.class, plan: &v.plan, parameters: read.object(form.Fields), secrets: secretsOf(form.Fields)}
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
	for _, secret := range wanted.secrets {
		if _, has := secret.Get(object); has {
			v.Form.More.Value = ""
		}
	}
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
