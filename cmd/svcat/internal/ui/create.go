package ui

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A seal marks manifests that a dry run has admitted, so that nothing else is created: what
// is created is what was shown, and no request can be written without a page of this process.
type seal struct{ key []byte }

func newSeal() *seal { return &seal{key: []byte(rand.Text())} }

// An order is what the button that creates an instance sends: the manifest, the sum of what the dry
// run made of it, and the mark of both.
type order struct{ Manifest, Given, Mark string }

func (s *seal) order(manifest []byte, given string) *order {
	return &order{Manifest: string(manifest), Given: given, Mark: s.mark(string(manifest), given)}
}

func (s *seal) mark(manifest, given string) string {
	sum := hmac.New(sha256.New, s.key)
	sum.Write([]byte(given + "\n" + manifest))
	return hex.EncodeToString(sum.Sum(nil))
}

// givenOf is the sum of what admission made of an object on the page of a plan: the decided plan, the
// parameters with all defaults, and what the page shows of the plan.
func givenOf(object *unstructured.Unstructured, made string) string {
	spec, _, _ := unstructured.NestedMap(object.Object, "spec")
	delete(spec, "externalID") // another one in each dry run
	sum := sha256.Sum256([]byte(made + compact(spec)))
	return hex.EncodeToString(sum[:])
}

// An unsureError is about a request to create whose answer did not come.
type unsureError struct{ error }

func (e unsureError) Unwrap() error { return e.error }

// create creates what a dry run has shown, and goes on to the page of the instance. A second dry run
// tells whether it is still the same. What the API server refuses now is shown on the page of the plan.
func (p catalogPages) create(r *http.Request) (*answer, error) {
	view, err := p.offers.plan(r.Context(), r.PathValue("scope"), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	manifest, given := r.PostForm.Get("manifest"), r.PostForm.Get("given")
	if !same(r.PostForm.Get("mark"), p.seal.mark(manifest, given)) {
		view.Form.Trouble = "svcat ui was started again since the dry run: fill in the form again."
		return view.answer(http.StatusConflict), nil
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON([]byte(manifest)); err != nil {
		return nil, fmt.Errorf("cannot read the manifest: %w", err)
	}
	if at := p.offers.place; at.Chosen() != "" {
		view.Form.Trouble = "The dry run was in namespace " + at.started + ", and this page is about another one: open the plan there and try it again."
		return view.answer(http.StatusConflict), nil
	}
	done := &trial{Real: true}
	if done.YAML, err = inYAML([]byte(manifest)); err != nil {
		return nil, err
	}
	view.Form.Name.Value = object.GetName()
	tried := object.DeepCopy()
	if err := p.requests.send(r.Context(), tried, done, client.DryRunAll); err != nil {
		return nil, fmt.Errorf("cannot ask for a dry run: %w", err)
	}
	if done.Admitted() {
		if givenOf(tried, view.Form.Made) != given {
			view.Form.Trouble = "The default, the plan or its parameters have changed since the dry run: try it again."
			return view.answer(http.StatusConflict), nil
		}
		if err := p.requests.send(r.Context(), object, done); err != nil {
			return nil, unsureError{fmt.Errorf("cannot create the instance: %w", err)}
		}
	}
	if done.Admitted() {
		return &answer{elsewhere: p.offers.Link(instancePath(object.GetName()))}, nil
	}
	view.Trial = done
	view.Form.blame(done.refused)
	return view.answer(http.StatusOK), nil
}
