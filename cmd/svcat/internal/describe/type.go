package describe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
	"github.com/defaultplan/defaultplan/resolve"
)

func newType(env *cli.Env) *cobra.Command {
	var scope cli.ScopeFlags
	cmd := &cobra.Command{
		Use:     "type NAME",
		Aliases: cli.Aliases("type"),
		Short:   "Show a service type: its default plan, who competes for it and who may decide",
		Example: `  svcat describe type mysql
  svcat describe type mysql --cluster`,
		Args:              oneName,
		ValidArgsFunction: complete.Types(env),
		RunE: described(env, scope.Nearest, catalog.Finder.Type, func(ctx context.Context, _ client.Reader, w io.Writer, t catalog.Type) error {
			c, err := env.Client()
			if err != nil {
				return err
			}
			return describeType(ctx, c, w, t)
		}),
	}
	bindScope(cmd, &scope)
	return cmd
}

func describeType(ctx context.Context, c client.Client, w io.Writer, t catalog.Type) error {
	typeName, namespace := t.Object.GetName(), t.Object.GetNamespace()
	entries, err := contenders(ctx, c, namespace, typeName)
	if err != nil {
		return err
	}
	mine, err := mayDecide(ctx, c, namespace, typeName)
	if err != nil {
		return err
	}
	candidates, outcome := judged(entries, namespace, typeName)
	var head printer.Pairs
	head.Add("Name:", typeName)
	addScope(&head, t.Object, t.Origin(), "")
	head.Add("Default:", t.Status.DefaultPlan)
	head.Add("Suggested:", t.Status.SuggestedPlan)
	head.Add("Plans:", strconv.Itoa(int(t.Status.Plans)))
	head.Add("Resolvable:", strconv.FormatBool(t.Status.Resolvable))
	head.Add("Gives:", outcome)
	head.Add("Decided By:", "users who may update "+resource(namespace)+" "+typeName+mine)
	return cli.InOrder(
		func() error { return head.Write(w) },
		func() error { return writeCandidates(w, candidates) },
		func() error { return writeConditions(w, t.Status.Conditions) },
	)
}

// contenders are the plans that an instance in the scope may get by the type: in a
// namespace the cluster's too, if the user may read them.
func contenders(ctx context.Context, reader client.Reader, namespace, typeName string) (resolve.Catalog, error) {
	entries, err := catalog.OfTypes(ctx, reader, namespace, typeName)
	if err != nil || namespace == "" {
		return entries, err
	}
	cluster, err := catalog.ClusterOfTypes(ctx, reader, typeName)
	return catalog.Joined(&entries, &cluster), err
}

// judged is what an instance gets that asks for the type alone in the scope, as
// package resolve decides, with what became of every plan of the type.
func judged(entries resolve.Catalog, namespace, typeName string) (candidates []resolve.Candidate, outcome string) {
	choice, err := resolve.Plan(resolve.Request{Namespace: namespace, Type: typeName}, entries)
	if refused, ok := errors.AsType[*resolve.Error](err); ok {
		return refused.Candidates, "nothing: " + refused.Detail
	}
	return choice.Candidates(), fmt.Sprintf("%s/%s (%s)", choice.Class.ExternalName, choice.Plan.ExternalName, choice.Rule.Words(namespace, choice.Class.ExternalName))
}

// mayDecide says whether the user is one of those who decide the default.
func mayDecide(ctx context.Context, c client.Client, namespace, typeName string) (string, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: "update", Group: v1beta1.GroupName, Resource: resource(namespace), Name: typeName,
		},
	}}
	if err := c.Create(ctx, review); err != nil {
		return "", fmt.Errorf("cannot ask what you may do: %w", err)
	}
	if review.Status.Allowed {
		return ": you may", nil
	}
	return ": you may not", nil
}

func resource(namespace string) string {
	return strings.ToLower(v1beta1.ScopedKind(namespace, "ServiceType")) + "s"
}

func writeCandidates(w io.Writer, candidates []resolve.Candidate) error {
	t := printer.New("plan", "kubernetes name", "scope", "fate")
	for _, candidate := range candidates {
		t.Add(candidate.ClassName+"/"+candidate.PlanName, candidate.Plan.Name, candidate.Scope(), candidate.Fate)
	}
	return writeTable(w, "Candidates", t, "No plans of this type")
}
