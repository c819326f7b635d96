package offline

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	celgo "github.com/google/cel-go/cel"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/deploy"
)

// A guard is the shipped policy that denies deletions. No webhook is asked about any.
type guard struct {
	conditions hook
	policy     admissionregistrationv1.ValidatingAdmissionPolicy
	// allowed and texts say whether a deletion is, and what a denial says.
	allowed, texts cel.ConditionEvaluator
}

// deletions reads the guard once.
var deletions = sync.OnceValues(func() (*guard, error) {
	shipped, err := deploy.Manifests.ReadFile("vap/deletion.yaml")
	if err != nil {
		return nil, fmt.Errorf("cannot read the policy about deletions: %w", err)
	}
	document, _, _ := bytes.Cut(shipped, []byte("\n---\n"))
	g := &guard{}
	if err := yaml.UnmarshalStrict(document, &g.policy); err != nil {
		return nil, fmt.Errorf("cannot decode the policy about deletions: %w", err)
	}
	var allowed, texts []cel.ExpressionAccessor
	for _, rule := range g.policy.Spec.Validations {
		allowed = append(allowed, &expression{rule.Expression})
		texts = append(texts, &text{rule.MessageExpression})
	}
	compile := func(expressions []cel.ExpressionAccessor) cel.ConditionEvaluator {
		return compiler().CompileCondition(expressions, cel.OptionalVariableDeclarations{}, environment.StoredExpressions)
	}
	g.allowed, g.texts = compile(allowed), compile(texts)
	g.conditions.name, g.conditions.conditions = g.policy.Name, g.policy.Spec.MatchConditions
	return g, nil
})

// refuseDeletion is the denial of a deletion.
func refuseDeletion(ctx context.Context, w *write, held *store) (*apierrors.StatusError, error) {
	g, err := deletions()
	if err != nil || !g.isAbout(w) {
		return nil, err
	}
	if asks, err := g.conditions.asks(ctx, w); err != nil || !asks {
		return nil, err
	}
	namespace := &corev1.Namespace{}
	if err := (view{store: held}).Get(ctx, client.ObjectKey{Name: w.old.GetNamespace()}, namespace); err != nil {
		return nil, err
	}
	attributes := w.attributes()
	request := cel.CreateAdmissionRequest(attributes, metav1.GroupVersionResource(attributes.GetResource()), metav1.GroupVersionKind(attributes.GetKind()))
	results, left, err := g.allowed.ForInput(ctx, attributes, request, cel.OptionalVariableBindings{}, cel.CreateNamespaceObject(namespace), celconfig.RuntimeCELCostBudget)
	if err != nil {
		return nil, fmt.Errorf("cannot evaluate policy %q: %w", g.policy.Name, err)
	}
	for i, result := range results {
		if result.Error != nil {
			return nil, fmt.Errorf("cannot evaluate policy %q: %w", g.policy.Name, result.Error)
		}
		if result.EvalResult.Value() == true {
			continue
		}
		message := g.policy.Spec.Validations[i].Message
		if texts, _, err := g.texts.ForInput(ctx, attributes, request, cel.OptionalVariableBindings{}, nil, left); err == nil && texts[i].Error == nil {
			message = fmt.Sprint(texts[i].EvalResult.Value())
		}
		return g.denial(w, message), nil
	}
	return nil, nil
}

// isAbout says that the policy is about objects of this kind.
func (g *guard) isAbout(w *write) bool {
	for _, rule := range g.policy.Spec.MatchConstraints.ResourceRules {
		if slices.Contains(rule.Resources, w.kind.Resource) {
			return true
		}
	}
	return false
}

// denial is the API server's.
func (g *guard) denial(w *write, message string) *apierrors.StatusError {
	const words = "ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s" // the API server's
	return apierrors.NewForbidden(w.resource(), w.old.GetName(), fmt.Errorf(words, g.policy.Name, g.policy.Name, strings.TrimSpace(message)))
}

// An expression says yes or no, and a text is one that makes words.
type (
	expression struct{ of string }
	text       struct{ of string }
)

// GetExpression is the expression.
func (e *expression) GetExpression() string { return e.of }

// ReturnTypes are those of a validation.
func (*expression) ReturnTypes() []*celgo.Type { return []*celgo.Type{celgo.BoolType} }

// GetExpression is the expression.
func (t *text) GetExpression() string { return t.of }

// ReturnTypes are those of a message.
func (*text) ReturnTypes() []*celgo.Type { return []*celgo.Type{celgo.StringType} }
