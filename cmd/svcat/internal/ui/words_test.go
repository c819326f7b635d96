package ui

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// patience is how long something may take that takes no time.
const patience = 30 * time.Second

// forbidden is a refusal of what is done with a resource.
func forbidden(resource, words string) error {
	return apierrors.NewForbidden(schema.ParseGroupResource(resource), "", errors.New(words))
}

// admission is a refusal in the words of a plugin: what it quotes anybody may have written.
func admission(message string) error {
	status := apierrors.NewForbidden(schema.ParseGroupResource(ofInstances), "x", nil)
	status.ErrStatus.Message = message
	return status
}

// The resources of refusals.
const (
	ofPlans     = "clusterserviceplans.servicecatalog.k8s.io"
	ofInstances = "serviceinstances.servicecatalog.k8s.io"
)

func TestMetadata(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, raw string
		bullets     []string
	}{
		"Bullets":    {"texts", `{"bullets": ["a", " ", 5, "b "]}`, []string{"a", "b"}},
		"OtherShape": {"is left out", `{"bullets": {"a": 1}}`, nil},
		"Nothing":    {"no metadata", ``, nil},
		"Broken":     {"no JSON", `{`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			about := metadataOf(&runtime.RawExtension{Raw: []byte(tc.raw)})
			assert.Equal(t, tc.bullets, about.bullets(), tc.reason)
		})
	}
}

// TestParametersOf: where each came from, as svcat describe says it.
func TestParametersOf(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ reason, record, stored, sent, want string }{
		"Layers":    {"by the record", `{"rule":"named","from":{"/a":"class","/b/c":"plan"}}`, `{"a":1,"b":{"c":2,"d":3},"e":4}`, ``, "/a=1 class, /b/c=2 plan, /b/d=3 user, /e=4 user"},
		"Secret":    {"only a Secret has it", `{"rule":"named"}`, `{"a":1}`, `{"a":1,"z":"<redacted>"}`, "/a=1 user, /z=<redacted> Secret"},
		"OverPlan":  {"a Secret beats a default", `{"rule":"named","from":{"/a":"plan"}}`, `{"a":1}`, `{"a":"<redacted>"}`, "/a=<redacted> Secret"},
		"UnderUser": {"the user beats a Secret", `{"rule":"named"}`, `{"a":1}`, `{"a":"<redacted>"}`, "/a=1 user"},
		"Mixed":     {"an object of several", `{"rule":"named","from":{"/a/b":"plan"}}`, `{"a":{"b":1,"c":2}}`, `{"a":"<redacted>"}`, "/a/b=1 plan, /a/c=2 user"},
		"Restored":  {"it is unknown", `{"rule":"restored"}`, `{"a":1}`, ``, "/a=1 user?"},
		"NoRecord":  {"it is unknown", ``, `{"a":1}`, ``, "/a=1 user?"},
		"Nothing":   {"nothing to know", ``, ``, ``, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			meta := &metav1.ObjectMeta{Annotations: map[string]string{v1beta1.AnnotationAppliedDefaults: tc.record}}
			list := parametersOf(meta, &runtime.RawExtension{Raw: []byte(tc.stored)}, nil, &runtime.RawExtension{Raw: []byte(tc.sent)})
			var text string
			for i, row := range list.Rows {
				if i > 0 {
					text += ", "
				}
				text += fmt.Sprintf("%s=%v %s", row.Pointer, row.Value, row.From)
				if list.Unknown {
					text += "?"
				}
			}
			assert.Equal(t, tc.want, text, tc.reason)
		})
	}
}
