package ui

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A seal marks manifests that a dry run has admitted, so that nothing else is created: what
// is created is what was shown, and no request can be written without a page of this process.
type seal struct{ key []byte }

func newSeal() *seal { return &seal{key: []byte(rand.Text())} }

// An order is what the button that creates an instance sends.
type order struct{ Manifest, Mark string }

func (s *seal) order(manifest []byte) *order {
	return &order{Manifest: string(manifest), Mark: s.mark(string(manifest))}
}

func (s *seal) mark(manifest string) string {
	sum := hmac.New(sha256.New, s.key)
	sum.Write([]byte(manifest))
	return hex.EncodeToString(sum.Sum(nil))
}

// create creates what a dry run has shown, and goes on to the page of the instance. What the
// API server refuses now is shown on the page of the plan.
func (p catalogPages) create(r *http.Request) (*answer, error) {
	view, err := p.offers.plan(r.Context(), r.PathValue("scope"), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	manifest := r.PostForm.Get("manifest")
	if !same(r.PostForm.Get("mark"), p.seal.mark(manifest)) {
		view.Form.Trouble = "svcat ui was started again since the dry run: fill in the form again."
		return view.answer(http.StatusConflict), nil
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON([]byte(manifest)); err != nil {
		return nil, fmt.Errorf("cannot read the manifest: %w", err)
	}
	done := &trial{Real: true}
	if done.YAML, err = inYAML([]byte(manifest)); err != nil {
		return nil, err
	}
	view.Form.Name.Value = object.GetName()
	if err := p.requests.send(r.Context(), object, done); err != nil {
		return nil, fmt.Errorf("cannot create the instance: %w", err)
	}
	if done.Admitted() {
		return &answer{elsewhere: "/instances/" + url.PathEscape(object.GetName())}, nil
	}
	view.Trial = done
	view.Form.blame(done.refused)
	return view.answer(http.StatusOK), nil
}
