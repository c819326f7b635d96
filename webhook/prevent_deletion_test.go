package webhook

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// prevents annotates the plan small and its class; an empty value is no annotation.
func prevents(plan, class string) []func(*stock) {
	annotate := func(name, value string, want func(client.Object) bool) func(*stock) {
		return func(s *stock) {
			if value != "" {
				o := s.object(name, want)
				annotations := o.GetAnnotations()
				if annotations == nil {
					annotations = map[string]string{}
				}
				annotations[v1beta1.AnnotationPreventDeletion] = value
				o.SetAnnotations(annotations)
			}
		}
	}
	return []func(*stock){annotate("db-small", plan, isPlan), annotate("db", class, isClass)}
}

// What is decided on a plan is annotated against deletion as the plan says, or else its class, unless
// its user says something else: instances, and bindings with an instance of their own.
func TestPreventDeletion(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ plan, class, user, want string }{
		"Nothing":            {},
		"Plan":               {plan: "true", want: "true"},
		"Class":              {class: "true", want: "true"},
		"PlanOverClass":      {plan: "false", class: "true"},
		"PlanAlthoughClass":  {plan: "true", class: "false", want: "true"},
		"UserOverPlan":       {plan: "true", user: "false", want: "false"},
		"UserAlone":          {user: "true", want: "true"},
		"UserAsPlan":         {plan: "true", user: "true", want: "true"},
		"AnotherValueOfPlan": {plan: "yes", class: "true", want: "true"},
		"OtherValues":        {plan: "True", class: "yes"},
	} {
		for kind, with := range map[string]func(meta, spec string) []byte{"Instance": instanceWith, "Claim": bindingWith} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				w := stocked(t, db, prevents(tc.plan, tc.class)...).env()
				meta := `{"name":"mydb","namespace":"dev"}`
				if tc.user != "" {
					meta = fmt.Sprintf(`{"name":"mydb","namespace":"dev","annotations":{%q:%q}}`, v1beta1.AnnotationPreventDeletion, tc.user)
				}
				o := w.write(with(meta, byType), nil)
				stored := o.admitted()
				assert.Equal(t, tc.want, annotationOf(t, stored, v1beta1.AnnotationPreventDeletion))
				told := strings.Count(strings.Join(o.warnings(), "\n"), v1beta1.AnnotationPreventDeletion)
				assert.Equal(t, tc.want != "" && tc.user == "", told == 1, "%d: %v", told, o.warnings())

				removed := changed(t, stored, fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, v1beta1.AnnotationPreventDeletion))
				assert.Empty(t, annotationOf(t, w.write(removed, stored).admitted(), v1beta1.AnnotationPreventDeletion), "its user may remove it")
			})
		}
	}
	t.Run("BindingToAnInstance", func(t *testing.T) {
		t.Parallel()
		w := stocked(t, db, append(prevents("true", ""), hasInstance("mydb", "db-small"))...).env()
		stored := w.bindTo(`{"instanceRef":{"name":"mydb"}}`).admitted()
		assert.Empty(t, annotationOf(t, stored, v1beta1.AnnotationPreventDeletion), "nothing is lost with it")
	})
	t.Run("Restored", func(t *testing.T) {
		t.Parallel()
		w := stocked(t, db, prevents("true", "")...).env()
		for _, with := range []func(meta, spec string) []byte{instanceWith, bindingWith} {
			stored := w.write(with(`{"name":"mydb","namespace":"dev"}`, byType), nil).admitted()
			backup := changed(t, stored, fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, v1beta1.AnnotationPreventDeletion))
			assert.Equal(t, "true", annotationOf(t, w.write(backup, nil).admitted(), v1beta1.AnnotationPreventDeletion))
		}
	})
	t.Run("AnotherPlan", func(t *testing.T) {
		t.Parallel()
		w := stocked(t, "mysql/db: small large", append(prevents("true", ""), updatable("db"))...).env()
		stored := w.created(`{"clusterServiceClassExternalName":"db","clusterServicePlanExternalName":"large"}`)
		require.Empty(t, annotationOf(t, stored, v1beta1.AnnotationPreventDeletion))
		moved := w.write(changed(t, stored, `{"spec":{"clusterServicePlanExternalName":"small"}}`), stored).admitted()
		assert.Equal(t, "true", annotationOf(t, moved, v1beta1.AnnotationPreventDeletion))
	})
	t.Run("DecidedLater", func(t *testing.T) {
		t.Parallel()
		w := stocked(t, db, prevents("true", "")...).env()
		stored := instanceOf(byType)
		assert.Equal(t, "true", annotationOf(t, w.write(stored, stored).admitted(), v1beta1.AnnotationPreventDeletion))
	})
}

// A value that protects nothing is refused, unless it is stored already.
func TestPreventDeletionIsMisspelled(t *testing.T) {
	t.Parallel()
	for kind, with := range map[string]func(meta, spec string) []byte{"Instance": instanceWith, "Claim": bindingWith} {
		for _, value := range []string{"yes", "True", ""} {
			t.Run(kind+"/"+value, func(t *testing.T) {
				t.Parallel()
				w := stocked(t, db).env()
				annotated := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, v1beta1.AnnotationPreventDeletion, value)
				plain := with(`{"name":"mydb","namespace":"dev"}`, byType)
				denied := w.write(changed(t, plain, annotated), nil).denied()
				require.NotNil(t, denied)
				assert.Contains(t, denied.Message, "metadata.annotations["+v1beta1.AnnotationPreventDeletion+"]")
				assert.Contains(t, denied.Message, `write "true"`)

				stored := w.write(plain, nil).admitted()
				require.NotNil(t, w.write(changed(t, stored, annotated), stored).denied())
				stored = changed(t, stored, annotated)
				w.write(changed(t, stored, `{"spec":{"parametersFrom":null},"metadata":{"labels":{"a":"b"}}}`), stored).admitted()
			})
		}
	}
}
