package webhook

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// The Service that a binding's endpoints have is spoken for.
func TestBindingServiceName(t *testing.T) {
	t.Parallel()
	checkBindings(t, bindingServiceNameCases())
}

func bindingServiceNameCases() map[string]bindingCase {
	beside := func(others ...func(*stock)) func(at string) []func(*stock) {
		return func(at string) []func(*stock) {
			return append([]func(*stock){hasInstance("mydb", at+"db-small")}, others...)
		}
	}
	called := func(service string) func(*v1beta1.ServiceBinding) {
		return func(b *v1beta1.ServiceBinding) { b.Spec.ServiceName = service }
	}
	going := func(b *v1beta1.ServiceBinding) {
		b.DeletionTimestamp, b.Finalizers = &metav1.Time{Time: founded}, []string{v1beta1.FinalizerServiceCatalog}
	}
	named := func(service string) string {
		return fmt.Sprintf(`{"instanceRef":{"name":"mydb"},"serviceName":%q}`, service)
	}
	elsewhere := func(s *stock) {
		s.objects = append(s.objects, &v1beta1.ServiceBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "foreign", UID: "uid-foreign"}, Spec: v1beta1.ServiceBindingSpec{ServiceName: "db"},
		})
	}
	return map[string]bindingCase{
		"Given":          {reason: "A name may be given.", spec: named("db"), plan: "db-small"},
		"OthersBeside":   {reason: "Others have others, and elsewhere.", edits: beside(hasBinding("other"), hasBinding("third", called("x")), elsewhere), spec: named("db"), plan: "db-small"},
		"OthersService":  {reason: "Attack: to lead another's clients elsewhere.", edits: beside(hasBinding("other", called("db"))), spec: named("db"), denied: "ServiceReserved"},
		"OthersByName":   {reason: "Also where the other only has its own name.", edits: beside(hasBinding("other")), spec: named("other"), denied: "ServiceReserved"},
		"OwnNameIsTaken": {reason: "Or this one only has its own.", edits: beside(hasBinding("other", called("creds"))), spec: toMydb, denied: "ServiceReserved"},
		"Freed":          {reason: "One that is being deleted gives its Service up.", edits: beside(hasBinding("other", called("db"), going)), spec: named("db"), plan: "db-small"},
		"JustFreed": {
			reason: "The cache is not believed.", edits: beside(hasBinding("other", called("x"))), behind: beside(hasBinding("other", called("db"))), spec: named("db"), plan: "db-small",
		},
		"JustFreedAskedTooOften": {
			reason: "Over the limit it is.", edits: beside(), behind: beside(hasBinding("other", called("db"))), adjust: exhaust, spec: named("db"), denied: "ServiceReserved",
		},
		"EditedToReserved": {
			reason: "An edit is held against the others, too.", edits: func(string) []func(*stock) { return []func(*stock){hasBinding("other", called("db"))} }, spec: toMydb,
			write: `{"spec":{"serviceName":"db"}}`, denied: "ServiceReserved",
		},
		"EditedWhenDecided": {
			reason: "A decided binding keeps its name.", edits: beside(), spec: named("db"), write: `{"spec":{"serviceName":"other"}}`, denied: "Immutable",
		},
		"EndpointsEdited": {
			reason: "And what its endpoints are.", edits: beside(), spec: toMydb, write: `{"spec":{"endpointsFrom":[{"hostKey":"a","portKey":"b"}]}}`, denied: "Immutable",
		},
	}
}
