package suggest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestShare(t *testing.T) {
	t.Parallel()
	assert.Equal(t, Ways{
		Svcat: "svcat share mydb --with dev -n infra", Kubectl: "kubectl edit -n infra serviceinstance mydb, and add dev to spec.sharing.namespaces",
	}, Share("infra", "mydb", "dev"))
	assert.Equal(t, "kubectl create rolebinding servicecatalog-bind -n infra --clusterrole=servicecatalog-bind --user='A B'", GrantBind("infra", "A B"))
	assert.Equal(t, "kubectl auth can-i bind serviceinstances.servicecatalog.k8s.io/mydb -n infra --as alice", MayBind("infra", "mydb", "alice"))
}
