package explain

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSubjectOf(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason   string
		argument string
		kind     string
		subject  string
	}{
		"Type":          {"A word alone is a type.", "mysql", KindType, "mysql"},
		"TypeByKind":    {"It may be said.", "type/mysql", KindType, "mysql"},
		"Instance":      {"As svcat's other commands call it.", "instance/mydb", KindInstance, "mydb"},
		"InstanceShort": {"As kubectl's short names.", "si/mydb", KindInstance, "mydb"},
		"InstanceLong":  {"As kubectl prints with -o name.", "serviceinstance.servicecatalog.k8s.io/mydb", KindInstance, "mydb"},
		"Binding":       {"Bindings, too.", "Binding/app", KindBinding, "app"},
		"Unknown":       {"Other kinds are not explained.", "pod/x", "", "x"},
		"NoName":        {"A kind alone names nothing.", "instance/", KindInstance, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind, subject := subjectOf(tc.argument)
			assert.Equal(t, tc.kind, kind, tc.reason)
			assert.Equal(t, tc.subject, subject, tc.reason)
		})
	}
}
