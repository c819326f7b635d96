package env

import (
	"errors"
	"io"
	"strings"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/e2e/stack/wait"
)

// Kubectl runs kubectl in the namespace, as the administrator, and returns what it
// printed to both outputs, standard output first. It must exit with 0.
func (c *Commands) Kubectl(stdin string, args ...string) string {
	c.Helper()
	stdout, stderr, err := c.stack.Kubectl(c.Context(), stdin, c.inNamespace(args)...)
	require.NoError(c, err, "%s%s", stdout, stderr)
	return stdout + stderr
}

// KubectlFails is Kubectl for what must not exit with 0; it returns what was printed to
// standard error.
func (c *Commands) KubectlFails(stdin string, args ...string) string {
	c.Helper()
	stdout, stderr, err := c.stack.Kubectl(c.Context(), stdin, c.inNamespace(args)...)
	require.Error(c, err, "kubectl %v: %s%s", args, stdout, stderr)
	return stderr
}

// Apply applies a manifest, in the namespace where its objects name none. In it, SUFFIX
// stands for what makes names unique. To start kubectl is most of what it costs to create
// an object: it is started for those that exist already.
func (c *Commands) Apply(manifest string) {
	c.Helper()
	manifest = strings.ReplaceAll(manifest, "SUFFIX", c.Suffix)
	documents := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), len(manifest))
	for {
		object := &unstructured.Unstructured{}
		err := documents.Decode(object)
		switch {
		case errors.Is(err, io.EOF):
			return
		case err == nil && len(object.Object) > 0:
			err = c.createByManifest(object)
		}
		if apierrors.IsAlreadyExists(err) {
			c.Kubectl(manifest, "apply", "-f", "-")
			return
		}
		require.NoError(c, err, "%s", manifest)
	}
}

// createByManifest creates an object as kubectl create does: by the administrator, and with
// an error for a field that the definition does not know. It has none of the annotations by
// which kubectl apply sees later what a manifest no longer has: where that matters, use
// Kubectl.
func (c *Commands) createByManifest(object *unstructured.Unstructured) error {
	admin := wait.Client(c.stack.Client())
	namespaced, err := admin.IsObjectNamespaced(object)
	if err != nil {
		return err
	}
	if namespaced && object.GetNamespace() == "" {
		object.SetNamespace(c.Namespace)
	}
	return admin.Create(c.Context(), object, client.FieldOwner("kubectl-client-side-apply"), client.FieldValidation(metav1.FieldValidationStrict))
}
