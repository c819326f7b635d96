package doctor

import (
	"cmp"
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

const (
	admissionCheck = "admission"
	// absentName names a class and a plan that do not exist. Admission accepts an
	// instance of them without a decision, and still completes it.
	absentName = "svcat-check-absent"
	// byHook begins what a hook refuses, and refused goes on; a schema's refusals
	// have neither.
	byHook  = "admission webhook "
	refused = " denied the request"
)

// An admission is what answers to new instances: the webhook in namespace system.
type admission struct {
	client client.Writer
	// namespace is where instances are tried.
	namespace, system string
	// reasonsOnly says that messages of what refused, which may be any plugin, are not told.
	reasonsOnly bool
}

// dryRuns creates two instances in dry runs: one that admission must complete, and
// one that it must refuse.
func (a admission) dryRuns(ctx context.Context) []finding {
	completed := a.undecided(v1beta1.ServiceInstanceSpec{PlanReference: v1beta1.PlanReference{
		ClusterServiceClassExternalName: absentName, ClusterServicePlanExternalName: absentName,
	}})
	err := a.client.Create(ctx, completed, client.DryRunAll)
	first := a.judgeCompleted(completed, err)
	if first.Level != levelOK {
		// The other would only say the same again.
		return []finding{first}
	}
	nothing := a.undecided(v1beta1.ServiceInstanceSpec{})
	return []finding{first, a.judgeRefused(a.client.Create(ctx, nothing, client.DryRunAll))}
}

// undecided returns an instance of the spec for a dry run, with a generated name.
func (a admission) undecided(spec v1beta1.ServiceInstanceSpec) *v1beta1.ServiceInstance {
	return &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, GenerateName: "svcat-check-"}, Spec: spec}
}

// judgeCompleted looks at the answer to an instance that names what is absent.
func (a admission) judgeCompleted(answer *v1beta1.ServiceInstance, err error) finding {
	if err != nil {
		return a.untried(err)
	}
	var lacks []string
	if answer.Spec.ExternalID == "" {
		lacks = append(lacks, "an external ID")
	}
	if !slices.Contains(answer.Finalizers, v1beta1.FinalizerServiceCatalog) {
		lacks = append(lacks, "its finalizer")
	}
	if len(lacks) > 0 {
		return failedf(admissionCheck, "see to the hooks: "+applyHooks,
			"the hooks are not called: an instance was admitted without %s (dry run)", strings.Join(lacks, " and "))
	}
	return okf(admissionCheck, "a new instance gets its external ID and finalizer (dry run in namespace %q)", a.namespace)
}

// judgeRefused looks at the answer to an instance that names nothing.
func (a admission) judgeRefused(err error) finding {
	switch {
	case err == nil:
		return failedf(admissionCheck, "see to the hooks: "+applyHooks, "an instance that names nothing was admitted (dry run)")
	case hookRefused(err):
		return okf(admissionCheck, "an instance that names nothing is refused (dry run in namespace %q)", a.namespace)
	}
	return a.untried(err)
}

func hookRefused(err error) bool {
	text := err.Error()
	return strings.Contains(text, byHook) && strings.Contains(text, refused)
}

// untried returns the finding about a dry run that gave no answer: what prevented it,
// or what it showed to be broken.
func (a admission) untried(err error) finding {
	text := err.Error()
	const callFailed = "failed calling webhook"
	switch {
	case strings.Contains(text, callFailed) && strings.Contains(text, "x509"):
		return failedf(certificatesCheck, renew, "the API server does not trust the webhook: %s", after(text, callFailed))
	case strings.Contains(text, callFailed):
		return failedf(admissionCheck, "look at the webhook's pods: kubectl -n "+a.system+" get pods",
			"the API server cannot call the webhook, so nothing can be ordered: %s", after(text, callFailed))
	case apierrors.IsNotFound(err) && strings.Contains(text, "namespaces"):
		return unknownf(admissionCheck, "name a namespace that there is: svcat check --namespace", "not tried: there is no namespace %q", a.namespace)
	case apierrors.IsForbidden(err) && !hookRefused(err):
		return unknownf(admissionCheck, "name a namespace in which you may create instances: svcat check --namespace",
			"not tried in namespace %q: %s", a.namespace, a.refusal(err))
	}
	return failedf(admissionCheck, "", "an instance cannot be tried in namespace %q: %s", a.namespace, a.refusal(err))
}

// refusal is why a dry run was refused.
func (a admission) refusal(err error) string {
	if !a.reasonsOnly {
		return err.Error()
	}
	return cmp.Or(string(apierrors.ReasonForError(err)), "no reason is known")
}

// after is what a text says after some words.
func after(text, words string) string {
	_, rest, _ := strings.Cut(text, words)
	return strings.TrimSpace(rest)
}
