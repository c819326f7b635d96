package svcat_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// The corpus: its catalog, and the objects that are admitted.
var (
	renderCatalog = filepath.Join("testdata", "render", "catalog.yaml")
	renderObjects = filepath.Join("testdata", "render", "objects.yaml")
)

// waited are the objects of the corpus that wait at first: what a cluster says of
// them when they are created, render does not say any more at the end.
var waited = []string{"servicebinding dev/early", "servicebinding dev/forever", "serviceinstance dev/waits"}

// TestRenderAndTheWebhookAgree: the same corpus through a cluster and through the
// files gives the same objects, the same warnings and the same denials, byte for
// byte, with each of the options that an operator may set. The short form has those that
// are shipped.
func TestRenderAndTheWebhookAgree(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]string{
		"AsShipped": nil,
		"Lenient":   {"--unresolved=wait", "--schema-check=warn"},
	} {
		if len(options) > 0 && !suite.Long() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := startClerk(t, options)
			k.stock()
			k.fileAll()
			catalog := k.dump()
			k.agrees(k.render(append(options, "-f", catalog, "-f", renderObjects)...), nil)
			// From the operator's files alone: plans have no UIDs there.
			k.agrees(k.render(append(options, "-f", renderCatalog, "-f", renderObjects)...), []string{
				"serviceinstance dev/selected", "serviceinstance dev/selected-2", "serviceinstance dev/selected-3", "serviceinstance dev/selected-4",
			})
		})
	}
}

// render runs `svcat render -o json` without any kubeconfig.
func (k *clerk) render(args ...string) outcome {
	k.Helper()
	e := &testEnv{env.Offline(k.T, k.stack)}
	got := e.runAs([]string{"HOME=" + k.TempDir(), "KUBECONFIG=/nowhere"}, "", append([]string{"render", "-o", "json"}, args...)...)
	require.Equal(k, 1, got.code, "some of the corpus is refused: %s", got.err)
	return got
}

// agrees holds what render printed against what the cluster said and stored. The
// objects whose plan is chosen by a UID may be left out.
func (k *clerk) agrees(got outcome, but []string) {
	k.Helper()
	refusals, warnings := k.told(got.err)
	for i, filed := range k.filed {
		assert.Equal(k, filed.refusal, refusals[i+1], "document %d, %s", i+1, filed.title)
	}
	want := map[string][]string{}
	for _, filed := range k.filed {
		if !slices.Contains(waited, filed.title) {
			want[filed.title] = append(want[filed.title], filed.warnings...)
		}
	}
	for title, texts := range want {
		if !slices.Contains(but, title) {
			assert.Equal(k, texts, warnings[title], title)
		}
	}
	rendered, stored := listed(k, got.out), k.storedObjects()
	for _, title := range but {
		delete(rendered, title)
		delete(stored, title)
	}
	assert.Empty(k, cmp.Diff(stored, rendered), "-stored +rendered")
	assert.Greater(k, len(stored), 40, "the corpus is worth it")
}

var refusedHead = regexp.MustCompile(`^.*objects\.yaml, document (\d+) \(line \d+\): .* is refused:$`)

// told takes what render says apart: denials by the number of the document, and
// warnings by the object.
func (k *clerk) told(stderr string) (refusals map[int]string, warnings map[string][]string) {
	k.Helper()
	refusals, warnings = map[int]string{}, map[string][]string{}
	current := 0
	// Who applies has another name where there is no cluster.
	stderr = strings.ReplaceAll(stderr, "kubernetes-admin", "admin")
	for line := range strings.SplitSeq(stderr, "\n") {
		head := refusedHead.FindStringSubmatch(line)
		text, isWarning := strings.CutPrefix(line, "Warning: ")
		switch {
		case head != nil:
			_, err := fmt.Sscan(head[1], &current)
			require.NoError(k, err)
		case isWarning:
			current = 0
			title, said, _ := strings.Cut(text, ": ")
			warnings[title] = append(warnings[title], said)
		case strings.HasPrefix(line, "error: "):
			current = 0
		case current > 0 && refusals[current] == "":
			refusals[current] = line
		case current > 0:
			refusals[current] += "\n" + line
		}
	}
	return refusals, warnings
}

// storedObjects are the instances and bindings that the cluster has.
func (k *clerk) storedObjects() map[string]any {
	k.Helper()
	stdout, stderr, err := k.stack.Kubectl(k.Context(), "", "get", "-A", "-o", "json", "serviceinstances,servicebindings")
	require.NoError(k, err, stderr)
	return listed(k, stdout)
}

// listed reads a list, without what a cluster makes up or adds about the write.
// Numbers are compared as they are written.
func listed(t require.TestingT, text string) map[string]any {
	var list struct{ Items []map[string]any }
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&list))
	objects := map[string]any{}
	for _, fields := range list.Items {
		object := &unstructured.Unstructured{Object: fields}
		delete(fields, "status")
		metadata, spec := fields["metadata"].(map[string]any), fields["spec"].(map[string]any)
		for _, noise := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"} {
			delete(metadata, noise)
		}
		delete(spec, "userInfo")
		annotations, _ := metadata["annotations"].(map[string]any)
		delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
		if minted := annotations[api.AnnotationMintedExternalID]; minted != nil && minted == spec["externalID"] {
			annotations[api.AnnotationMintedExternalID], spec["externalID"] = "MINTED", "MINTED"
		}
		objects[fmt.Sprintf("%s %s/%s", strings.ToLower(object.GetKind()), object.GetNamespace(), object.GetName())] = fields
	}
	return objects
}
