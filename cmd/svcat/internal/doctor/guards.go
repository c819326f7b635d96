package doctor

import (
	"context"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A guard is a folder of deploy that the installation works without, only worse.
type guard struct {
	subject, folder, what string
	// without is what one does without where they are missing.
	without string
}

var allGuards = []guard{
	{"policies", "vap", "admission policies", "what they keep from being stored while the hooks are not installed, or by a stolen token, is not kept from it"},
	{"flow", "flow", "flow schemas and priority levels", "under load the webhook's reads wait behind the writes that wait for them"},
}

// checkGuards looks whether the policies and flow schemas are there that hold where the
// hooks do not.
func checkGuards(ctx context.Context, reader client.Reader) []finding {
	findings := make([]finding, 0, len(allGuards))
	for _, g := range allGuards {
		findings = append(findings, g.check(ctx, reader))
	}
	return findings
}

func (g guard) check(ctx context.Context, reader client.Reader) finding {
	wanted, err := shipped(g.folder)
	if err != nil {
		return failedf(g.subject, "", "%s", err)
	}
	var missing []string
	for _, object := range wanted {
		there := &unstructured.Unstructured{}
		there.SetGroupVersionKind(object.GroupVersionKind())
		err := reader.Get(ctx, client.ObjectKeyFromObject(object), there)
		switch {
		case apierrors.IsNotFound(err):
			missing = append(missing, object.GetKind()+" "+object.GetName())
		case err != nil:
			return unread(g.subject, g.what, err)
		}
	}
	return judgeGuard(g, len(wanted), missing)
}

func judgeGuard(g guard, wanted int, missing []string) finding {
	if len(missing) == 0 {
		return okf(g.subject, "all %s are there (%d objects)", g.what, wanted)
	}
	slices.Sort(missing)
	return warningf(g.subject, "kubectl apply -f deploy/"+g.folder, "missing: %s; %s", strings.Join(missing, ", "), g.without)
}
