package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

const definitionsCheck = "definitions"

// checkDefinitions looks whether every kind is defined and served.
func checkDefinitions(ctx context.Context, reader client.Reader) []finding {
	wanted, err := shippedAs[apiextensionsv1.CustomResourceDefinition]("crds", "CustomResourceDefinition")
	if err != nil {
		return []finding{failedf(definitionsCheck, "", "%s", err)}
	}
	faults := map[string][]string{}
	for i := range wanted {
		name := wanted[i].Name
		installed := &apiextensionsv1.CustomResourceDefinition{}
		err := reader.Get(ctx, client.ObjectKey{Name: name}, installed)
		if client.IgnoreNotFound(err) != nil {
			return []finding{unread(definitionsCheck, "customresourcedefinitions", err)}
		}
		if apierrors.IsNotFound(err) {
			installed = nil
		}
		if fault := definitionFault(installed); fault != "" {
			faults[fault] = append(faults[fault], strings.TrimSuffix(name, "."+v1beta1.GroupName))
		}
	}
	return judgeDefinitions(len(wanted), faults)
}

// definitionFault is what keeps a definition from being served, empty for nothing;
// nil is an absent one.
func definitionFault(installed *apiextensionsv1.CustomResourceDefinition) string {
	if installed == nil {
		return "missing"
	}
	served := slices.ContainsFunc(installed.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == v1beta1.GroupVersion.Version && v.Served
	})
	if !served {
		return "not served as " + v1beta1.GroupVersion.Version
	}
	for _, wanted := range []apiextensionsv1.CustomResourceDefinitionConditionType{apiextensionsv1.NamesAccepted, apiextensionsv1.Established} {
		i := slices.IndexFunc(installed.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool { return c.Type == wanted })
		switch {
		case i < 0:
			return fmt.Sprintf("not %s yet", wanted)
		case installed.Status.Conditions[i].Status != apiextensionsv1.ConditionTrue:
			return fmt.Sprintf("not %s (%s)", wanted, installed.Status.Conditions[i].Message)
		}
	}
	return ""
}

// judgeDefinitions is a finding for each fault, with the resources that have it.
func judgeDefinitions(wanted int, faults map[string][]string) []finding {
	if len(faults) == 0 {
		return []finding{okf(definitionsCheck, "all %d are served", wanted)}
	}
	var findings []finding
	for fault, names := range faults {
		slices.Sort(names)
		findings = append(findings, failedf(definitionsCheck, "kubectl apply --server-side -f deploy/crds", "%s: %s", fault, strings.Join(names, ", ")))
	}
	slices.SortFunc(findings, func(a, b finding) int { return strings.Compare(a.Message, b.Message) })
	return findings
}
