package deploy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// chartFolder is the chart, from this package.
const chartFolder = "charts/defaultplan"

// objects are what a form renders, by kind, namespace and name.
type objects map[string]*unstructured.Unstructured

// binary is the path of a binary that make build, or make bin/helm bin/helm3, builds.
func binary(t *testing.T, name string) string {
	t.Helper()
	folder := os.Getenv("DEFAULTPLAN_BIN")
	if folder == "" {
		folder = filepath.Join("..", "bin")
	}
	path, err := filepath.Abs(filepath.Join(folder, name))
	require.NoError(t, err)
	require.FileExists(t, path, "run `make build bin/helm bin/helm3`")
	return path
}

// run is what a binary prints, and what it says of an error, in an environment that
// has none of ours.
func run(t *testing.T, name string, args ...string) (stdout []byte, stderr string, err error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary(t, name), args...)
	var out, said bytes.Buffer
	command.Stdout, command.Stderr = &out, &said
	command.Env = []string{"HOME=" + t.TempDir()}
	err = command.Run()
	return out.Bytes(), said.String(), err
}

// template renders the chart with values as --set takes them, by "helm" or "helm3".
// The version of Kubernetes is told because a helm that is built from its module
// alone knows none.
func template(t *testing.T, helm, namespace string, values ...string) (rendered []byte, stderr string, err error) {
	t.Helper()
	args := []string{"template", "any-name", chartFolder, "--namespace", namespace, "--kube-version", "1.36.0"}
	for _, value := range values {
		args = append(args, "--set-json", value)
	}
	return run(t, helm, args...)
}

// chart is what the chart renders.
func chart(t *testing.T, helm, namespace string, values ...string) objects {
	t.Helper()
	rendered, stderr, err := template(t, helm, namespace, values...)
	require.NoError(t, err, stderr)
	return parse(t, rendered)
}

var (
	renderDefaults sync.Once
	defaultObjects objects
)

// defaults is what the chart renders without a value; it is for reading.
func defaults(t *testing.T) objects {
	t.Helper()
	renderDefaults.Do(func() { defaultObjects = chart(t, "helm", "defaultplan-system") })
	require.NotEmpty(t, defaultObjects)
	return defaultObjects
}

// kustomization is what kubectl kustomize makes of a folder.
func kustomization(t *testing.T, folder string) objects {
	t.Helper()
	rendered, stderr, err := run(t, "kubectl", "kustomize", folder)
	require.NoError(t, err, stderr)
	return parse(t, rendered)
}

// parse reads objects, of which no two are the same.
func parse(t *testing.T, content []byte) objects {
	t.Helper()
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	all := objects{}
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		if len(object.Object) == 0 {
			continue
		}
		require.NotContains(t, all, key(object))
		all[key(object)] = object
	}
}

func key(object *unstructured.Unstructured) string {
	if object.GetNamespace() == "" {
		return object.GetKind() + " " + object.GetName()
	}
	return object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
}

// withoutHelms takes away what Helm alone adds: its hooks, two labels, and the annotation
// that keeps definitions.
func withoutHelms(all objects) objects {
	plain := objects{}
	for name, object := range all {
		if isHook(object) {
			continue
		}
		object = object.DeepCopy()
		labels := object.GetLabels()
		delete(labels, "helm.sh/chart")
		delete(labels, "app.kubernetes.io/managed-by")
		object.SetLabels(labels)
		annotations := object.GetAnnotations()
		delete(annotations, "helm.sh/resource-policy")
		object.SetAnnotations(annotations)
		plain[name] = object
	}
	return plain
}

// isHook says whether Helm applies an object only at a moment of its own, such as helm test.
func isHook(object *unstructured.Unstructured) bool {
	_, is := object.GetAnnotations()["helm.sh/hook"]
	return is
}

// strict decodes every object of a kind that has a Go type, where a field that the
// type does not have is an error, and returns the kinds that have none.
func strict(t *testing.T, all objects) (others []string) {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme), certmanagerv1.AddToScheme(scheme)))
	decoder := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, scheme, scheme, serializer.SerializerOptions{Strict: true})
	kinds := map[string]bool{}
	for name, object := range all {
		content, err := json.Marshal(object.Object)
		require.NoError(t, err)
		_, _, err = decoder.Decode(content, nil, nil)
		if runtime.IsNotRegisteredError(err) {
			kinds[object.GetKind()] = true
			continue
		}
		require.NoError(t, err, name)
	}
	return slices.Sorted(maps.Keys(kinds))
}
