package webhook

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Sharing that cannot be read is refused when it is written, and never again.
func TestInstanceSharing(t *testing.T) {
	t.Parallel()
	const broken = `{"namespaceSelector":{"matchExpressions":[{"key":"team","operator":"Sometimes"}]}}`
	for name, tc := range map[string]struct {
		reason, old, sharing, denied string
	}{
		"Names":       {reason: "names", sharing: `{"namespaces":["a","b"]}`},
		"Selector":    {reason: "labels", sharing: `{"namespaceSelector":{"matchLabels":{"team":"a"}}}`},
		"Everybody":   {reason: "all", sharing: `{"namespaceSelector":{}}`},
		"NoNamespace": {reason: "in as many words", sharing: `{"whenWithdrawn":"Unbind"}`},
		"Broken":      {reason: "it would silently select no namespace", sharing: broken, denied: "InvalidSelector"},
		"BrokenLater": {reason: "also where it comes later", old: `{"namespaces":["a"]}`, sharing: broken, denied: "InvalidSelector"},
		"BrokenStays": {reason: "what was stored without hooks stays deletable and editable", old: broken, sharing: broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stocked(t, db).env()
			spec := func(sharing string) []byte { return instanceOf(`{"serviceType":"mysql","sharing":` + sharing + `}`) }
			var o *outcome
			if tc.old == "" {
				o = w.write(spec(tc.sharing), nil)
			} else {
				stored := w.create(`{"serviceType":"mysql"}`).admitted()
				was := changed(t, stored, `{"spec":{"sharing":`+tc.old+`}}`)
				o = w.write(changed(t, was, `{"spec":{"parameters":{"a":1},"sharing":`+tc.sharing+`}}`), was)
			}
			if tc.denied == "" {
				assert.JSONEq(t, tc.sharing, at(t, o.admitted(), "/spec/sharing"), tc.reason)
				return
			}
			require.NotNil(t, o.denied(), tc.reason)
			assert.Equal(t, tc.denied, o.label())
			assert.Equal(t, "spec.sharing.namespaceSelector", o.denied().Details.Causes[0].Field)
		})
	}
}
