package planflags

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// expandAttributes returns a selector in which a label without a prefix is the label of the
// attribute of that name, unless a plan or class has a label of the bare name. Where that
// cannot be read the label stays, and admission reports what does not match.
func expandAttributes(ctx context.Context, reader client.Reader, scope cli.Scope, selector *metav1.LabelSelector) *metav1.LabelSelector {
	full := func(label string) string {
		attribute := v1beta1.LabelAttributePrefix + label
		if _, both := selector.MatchLabels[attribute]; both || strings.Contains(label, "/") {
			return label
		}
		if is, err := catalog.Labelled(ctx, reader, scope, label); is || err != nil {
			return label
		}
		if is, err := catalog.Labelled(ctx, reader, scope, attribute); !is || err != nil {
			return label
		}
		return attribute
	}
	out := selector.DeepCopy()
	for label, value := range selector.MatchLabels {
		delete(out.MatchLabels, label)
		out.MatchLabels[full(label)] = value
	}
	for i := range out.MatchExpressions {
		out.MatchExpressions[i].Key = full(out.MatchExpressions[i].Key)
	}
	return out
}
