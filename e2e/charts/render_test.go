package charts_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// objectsOf are the objects of manifests, by kind and name.
func objectsOf(t *testing.T, manifests string) map[string]object {
	t.Helper()
	all := map[string]object{}
	for document := range strings.SplitSeq("\n"+manifests, "\n---") {
		o := object{}
		require.NoError(t, yaml.Unmarshal([]byte(document), &o))
		if len(o) > 0 {
			all[o["kind"].(string)+" "+o["metadata"].(object)["name"].(string)] = o
		}
	}
	return all
}
