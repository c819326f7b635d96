package moving

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

// canary is in every value that no output may have.
const canary = "s3cret-canary"

func instance(change func(*v1beta1.ServiceInstance)) *v1beta1.ServiceInstance {
	i := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db", UID: "u-1", Generation: 2}}
	i.Spec.ExternalID = "i-1"
	i.Spec.ClusterServiceClassExternalName, i.Spec.ClusterServicePlanExternalName = "mysql", "small"
	i.Spec.ClusterServiceClassRef, i.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "c-1"}, &v1beta1.ClusterObjectReference{Name: "p-1"}
	i.Spec.Parameters = &runtime.RawExtension{Raw: []byte(`{"big":12345678901234567890,"one":1.0,"password":"` + canary + `"}`)}
	i.Spec.ParametersFrom = []v1beta1.ParametersFromSource{{SecretKeyRef: &v1beta1.SecretKeyReference{Name: "more", Key: "json"}}}
	i.Status.ProvisionStatus, i.Status.DeprovisionStatus, i.Status.ObservedGeneration = v1beta1.Provisioned, v1beta1.DeprovisionRequired, 2
	i.Status.Conditions = []v1beta1.Condition{{Type: v1beta1.ConditionReady, Status: v1beta1.ConditionTrue}}
	if change != nil {
		change(i)
	}
	return i
}

func binding(change func(*v1beta1.ServiceBinding)) *v1beta1.ServiceBinding {
	b := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "app"}}
	b.Spec.ExternalID, b.Spec.InstanceRef = "b-1", &v1beta1.InstanceReference{Name: "db"}
	b.Status.Conditions = []v1beta1.Condition{{Type: v1beta1.ConditionReady, Status: v1beta1.ConditionTrue}}
	if change != nil {
		change(b)
	}
	return b
}

func secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Data: map[string][]byte{"json": []byte(canary)}}
}

func broker() *v1beta1.ClusterServiceBroker {
	b := &v1beta1.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: "azure"}}
	b.Spec.URL = "https://broker.example.com"
	b.Spec.AuthInfo = &v1beta1.ClusterServiceBrokerAuthInfo{Basic: &v1beta1.ClusterBasicAuthConfig{SecretRef: &v1beta1.ObjectReference{Namespace: "brokers", Name: "azure"}}}
	return b
}

func whole() *Contents {
	return &Contents{
		Brokers: []v1beta1.BrokerObject{broker()}, Instances: []*v1beta1.ServiceInstance{instance(nil)}, Bindings: []*v1beta1.ServiceBinding{binding(nil)},
		Classes: []v1beta1.ClassObject{&v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: "c-1"}}},
		Plans:   []v1beta1.PlanObject{&v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "p-1"}}},
		Secrets: []*corev1.Secret{secret("more")},
	}
}

// TestFileComesBack: as it was written, numbers in parameters included, and readable to its owner
// alone, also where another file was there.
func TestFileComesBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shop.export")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o644))
	written := whole()
	require.NoError(t, Write(path, written, Seal{}))
	is, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), is.Mode())
	read, err := Read(path, Seal{})
	require.NoError(t, err)
	assert.Equal(t, 6, read.Header.Objects)
	assert.Equal(t, written.Instances[0].Status, read.Instances[0].Status)
	assert.JSONEq(t, string(written.Instances[0].Spec.Parameters.Raw), string(read.Instances[0].Spec.Parameters.Raw))
	assert.Contains(t, string(read.Instances[0].Spec.Parameters.Raw), "12345678901234567890")
	assert.Contains(t, string(read.Instances[0].Spec.Parameters.Raw), "1.0")
	assert.Equal(t, written.Secrets[0].Data, read.Secrets[0].Data)
	assert.Equal(t, "https://broker.example.com", read.Brokers[0].GetSpec().URL)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, left, 1, "nothing else is left")
	require.ErrorContains(t, Write(filepath.Dir(path), whole(), Seal{}), "no regular file")
}

// documents are those of a file, to be changed.
func documents(t *testing.T, contents *Contents) []string {
	t.Helper()
	text, err := contents.encode()
	require.NoError(t, err)
	return strings.Split(strings.TrimPrefix(string(text), separator), "\n"+separator)
}

// TestHostileFiles: each is refused with the number of the document, and no value of it.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	replace := func(at int, old, replacement string) func(*testing.T, []string) []string {
		return func(t *testing.T, all []string) []string {
			t.Helper()
			require.Contains(t, all[at], old)
			all[at] = strings.Replace(all[at], old, replacement, 1)
			return all
		}
	}
	const header, ofBroker, ofSecret, ofInstance, ofBinding = 0, 1, 4, 5, 6
	for name, c := range map[string]struct {
		reason string
		change func(*testing.T, []string) []string
		want   string
	}{
		"Empty":        {"nothing", func(*testing.T, []string) []string { return nil }, "it is empty"},
		"OtherVersion": {"a later format", replace(header, Version, "moving.servicecatalog.kubernetes.io/v2"), "document 1: it is \"Export\" of apiVersion \"moving.servicecatalog.kubernetes.io/v2\""},
		"NoHeader":     {"a manifest", func(_ *testing.T, all []string) []string { return all[1:] }, "document 1: it is \"ClusterServiceBroker\""},
		"Cut":          {"at the end of a document", func(_ *testing.T, all []string) []string { return all[:6] }, "it has 5 objects, and its header says 6"},
		"CutWithin":    {"in a document", func(_ *testing.T, all []string) []string { all[6] = all[6][:50]; return all }, "document 7: it is no JSON object"},
		"More": {"one was added", func(_ *testing.T, all []string) []string {
			return append(all, strings.ReplaceAll(all[5], "\"db\"", "\"other\""))
		}, "it has 7 objects, and its header says 6"},
		"ManyValues":      {"each takes some hundred times as much in memory", replace(ofInstance, "\"status\": {", "\"status\": {\"conditions\": ["+strings.Repeat("{},", maxValues)+"{}], \"x\": {"), "document 6: it has more than 100000 values"},
		"Twice":           {"the same again", func(_ *testing.T, all []string) []string { return append(all, all[5]) }, "document 8: ServiceInstance shop/db: the file has it twice"},
		"ForeignKind":     {"of another group", replace(ofBroker, "\"ClusterServiceBroker\"", "\"ClusterRoleBinding\""), "document 2: it is a \"ClusterRoleBinding\""},
		"ForeignGroup":    {"of another version", replace(ofBroker, "servicecatalog.k8s.io/v1beta1", "v1"), "document 2: it is a \"ClusterServiceBroker\" of apiVersion \"v1\""},
		"PathTraversal":   {"a name is a part of paths", replace(ofInstance, "\"db\"", "\"../../secrets/x\""), "document 6: ServiceInstance shop/../../secrets/x: metadata.name: "},
		"Terminal":        {"a name is shown before it is known to be one", replace(ofInstance, "\"db\"", "\"db\\u001b[2J\""), "document 6: ServiceInstance shop/db\uFFFD[2J: metadata.name: "},
		"BadNamespace":    {"so is a namespace", replace(ofInstance, "\"shop\"", "\"shop/x\""), "metadata.namespace: "},
		"NamespaceOfNone": {"an object of the cluster has none", replace(ofBroker, "\"name\": \"azure\"", "\"namespace\": \"a\", \"name\": \"azure\""), "an object of the cluster has none"},
		"UnknownField":    {"nothing is dropped without a word", replace(ofInstance, "\"externalID\"", "\"exterminate\": \""+canary+"\", \"externalID\""), `unknown field "spec.exterminate"`},
		"OtherType":       {"a field of another type", replace(ofInstance, "\"i-1\"", "[\""+canary+"\"]"), "field spec.externalID is of another type"},
		"NoParameters": {"parameters are an object", func(t *testing.T, all []string) []string {
			t.Helper()
			var object map[string]any
			require.NoError(t, json.Unmarshal([]byte(all[ofInstance]), &object))
			object["spec"].(map[string]any)["parameters"] = []string{canary}
			text, err := json.Marshal(object)
			require.NoError(t, err)
			all[ofInstance] = string(text)
			return all
		}, "document 6: ServiceInstance shop/db: spec.parameters: it is no JSON object"},
		"NoKey":          {"a Secret without a key", replace(ofInstance, "\"key\": \"json\"", "\"key\": \"\""), "spec.parametersFrom[0].secretKeyRef"},
		"BadSecretName":  {"a path", replace(ofBinding, "\"externalID\"", "\"secretName\": \"../x\", \"externalID\""), "spec.secretName"},
		"UnusedSecret":   {"none that nothing uses", replace(ofSecret, "\"more\"", "\"other\""), "Secret shop/other: no object of the file uses it"},
		"OtherNamespace": {"nor of another namespace", replace(ofSecret, "\"shop\"", "\"kube-system\""), "Secret kube-system/more: no object of the file uses it"},
		"SecretKey":      {"a key that no Secret has", replace(ofSecret, "\"json\"", "\"../json\""), "a key is none that a Secret may have"},
		"TooLarge": {"bounded", func(_ *testing.T, all []string) []string {
			all[5] += strings.Repeat(" ", 10) + strings.Repeat("x", maxDocument)
			return all
		}, "document 6: it has 4"},
		"NoJSON": {"YAML is another format", func(_ *testing.T, all []string) []string { all[5] = "kind: " + canary; return all }, "document 6: it is no JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "hostile")
			text := strings.Join(c.change(t, documents(t, whole())), "\n"+separator)
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			_, err := Read(path, Seal{})
			require.ErrorContains(t, err, c.want, c.reason)
			assert.NotContains(t, err.Error(), canary, c.reason)
			assert.Contains(t, err.Error(), "cannot read "+path)
			assert.Equal(t, termtext.Line(err.Error()), err.Error(), "%s: nothing of it reaches a terminal as it is", c.reason)
		})
	}
}

// TestEndlessFile: what has no end is not read to it.
func TestEndlessFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "large")
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, file.Truncate(maxFile+1))
	require.NoError(t, file.Close())
	_, err = Read(path, Seal{})
	require.ErrorContains(t, err, "is larger than 67108864 bytes")
	_, err = Read(filepath.Join(t.TempDir(), "none"), Seal{})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestManyDocuments: a file has only so many.
func TestManyDocuments(t *testing.T) {
	t.Parallel()
	text := []byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","namespace":"dev"}}`)
	require.NoError(t, (&Contents{}).decodeOne(maxDocuments, text, newCheck()))
	require.EqualError(t, (&Contents{}).decodeOne(maxDocuments+1, text, newCheck()), "a file may have 200000 documents: export fewer namespaces at once")
}

// TestLinks: what a link leads to is not replaced.
func TestLinks(t *testing.T) {
	t.Parallel()
	target, link := fileOf(t, "mine"), filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(target, link))
	require.EqualError(t, Write(link, whole(), Seal{}), "--output: "+link+" is no regular file, and only those are replaced; name another file")
	text, err := os.ReadFile(target)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(text))
	is, err := os.Lstat(link)
	require.NoError(t, err)
	assert.Equal(t, os.ModeSymlink, is.Mode().Type())
}

// TestStrip: what counts in one cluster only is taken off; what the release compares stays.
func TestStrip(t *testing.T) {
	t.Parallel()
	i := instance(func(i *v1beta1.ServiceInstance) {
		i.Annotations = map[string]string{
			"kubectl.kubernetes.io/last-applied-configuration": canary, v1beta1.AnnotationMintedExternalID: "i-1", v1beta1.AnnotationAbandon: "true",
			v1beta1.AnnotationPreventDeletion: "true", v1beta1.AnnotationDeprovisionAdopted: "true", "team": "shop",
		}
		i.Labels = map[string]string{v1beta1.LabelClusterServicePlanRefName: "x", "app": "shop"}
		i.Finalizers = []string{v1beta1.FinalizerServiceCatalog}
		i.OwnerReferences = []metav1.OwnerReference{{Kind: "Deployment", UID: "d"}}
		i.ResourceVersion = "7"
	})
	Strip(i)
	assert.Equal(t, map[string]string{v1beta1.AnnotationPreventDeletion: "true", v1beta1.AnnotationDeprovisionAdopted: "true", "team": "shop"}, i.Annotations)
	assert.Equal(t, map[string]string{"app": "shop"}, i.Labels)
	assert.Empty(t, i.Finalizers)
	assert.Empty(t, i.OwnerReferences)
	assert.Empty(t, i.ResourceVersion)
	assert.EqualValues(t, "u-1", i.UID)
	assert.EqualValues(t, 2, i.Generation)
	own := instance(func(i *v1beta1.ServiceInstance) {
		i.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1beta1.GroupVersion.String(), Kind: "ServiceBinding", Controller: new(true)}}
	})
	Strip(own)
	assert.Contains(t, Obstacle(own), "it is the own instance of a binding", "by its owner")
	s := StripSecret(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1beta1.AnnotationExpiresAt: "2027", "kubernetes.io/service-account.name": "admin"}},
		Data:       map[string][]byte{"used": nil, "other": nil},
	}, []string{"used"})
	assert.Equal(t, map[string][]byte{"used": nil}, s.Data)
	assert.Equal(t, map[string]string{v1beta1.AnnotationExpiresAt: "2027"}, s.Annotations)
}

// TestSecretsAreListed: with the keys that are used and what uses them.
func TestSecretsAreListed(t *testing.T) {
	t.Parallel()
	contents := whole()
	contents.Bindings[0].Spec.ParametersFrom = []v1beta1.ParametersFromSource{{SecretKeyRef: &v1beta1.SecretKeyReference{Name: "more", Key: "other"}}}
	db := &contents.Instances[0].Spec
	db.ParametersFrom = append(db.ParametersFrom, v1beta1.ParametersFromSource{SecretKeyRef: &v1beta1.SecretKeyReference{Name: "app", Key: "port"}})
	contents.Bindings = append(contents.Bindings, binding(func(b *v1beta1.ServiceBinding) {
		b.Name = "late"
		b.Spec.ParametersFrom = []v1beta1.ParametersFromSource{{SecretKeyRef: &v1beta1.SecretKeyReference{Name: "app", Key: "uri"}}}
	}))
	var got bytes.Buffer
	for _, use := range SecretsOf(contents) {
		fmt.Fprintf(&got, "%s/%s %v %v\n", use.Namespace, use.Name, use.Keys, use.UsedBy)
	}
	assert.Equal(t, `brokers/azure [password username] [ClusterServiceBroker azure]
shop/app [] [ServiceBinding shop/app ServiceBinding shop/late ServiceInstance shop/db]
shop/late [] [ServiceBinding shop/late]
shop/more [json other] [ServiceBinding shop/app ServiceInstance shop/db]
`, got.String())
}

// TestDeepParameters: a file is not many times as large as what it has, however deep users nest it.
func TestDeepParameters(t *testing.T) {
	t.Parallel()
	const deep = 9000 // the API server takes 10,000 levels
	parameters := strings.Repeat(`{"a":`, deep) + "1" + strings.Repeat("}", deep)
	contents := whole()
	contents.Instances[0].Spec.Parameters.Raw = []byte(parameters)
	require.NoError(t, Refused(contents.Instances[0]))
	text, err := contents.encode()
	require.NoError(t, err)
	assert.Less(t, len(text), 2*len(parameters))
	read, err := decode(text)
	require.NoError(t, err)
	assert.JSONEq(t, parameters, string(read.Instances[0].Spec.Parameters.Raw))
}

// TestManyKeysOfOneSecret: a user may have thousands of objects use one Secret, each another key, and so
// may a file. What that takes grows as they do: put in order at each of them, these took 15 s and 8 GB.
func TestManyKeysOfOneSecret(t *testing.T) { // not parallel: it measures what is allocated
	const many = 20_000
	contents := &Contents{}
	for i := range many {
		contents.Instances = append(contents.Instances, instance(func(o *v1beta1.ServiceInstance) {
			o.Name = fmt.Sprint("i", i)
			o.Spec.ParametersFrom[0].SecretKeyRef.Key = fmt.Sprintf("key-%05d", many-1-i/2)
		}))
	}
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	uses := SecretsOf(contents)
	goruntime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1000*many))
	require.Len(t, uses, 1)
	assert.Len(t, uses[0].UsedBy, many)
	assert.Len(t, uses[0].Keys, many/2)
	assert.True(t, slices.IsSorted(uses[0].Keys))
}

// TestManyValues: the values of the whole file are bounded, too.
func TestManyValues(t *testing.T) {
	t.Parallel()
	seen := newCheck()
	full := bytes.Repeat([]byte(","), maxValues)
	for number := range maxFileValues / maxValues {
		require.NoError(t, seen.size(number+1, full))
	}
	require.EqualError(t, seen.size(30, []byte(",")), "a file may have 2000000 values: export fewer namespaces at once")
}

// TestWriteOfARefusedFile: what an import would refuse is told when it is exported.
func TestWriteOfARefusedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "refused")
	contents := whole()
	contents.Instances[0].Spec.Parameters.Raw = []byte(`{"a":"` + strings.Repeat("x", maxDocument) + `"}`)
	require.ErrorContains(t, Write(path, contents, Seal{}), "cannot write ServiceInstance shop/db: it has 4")
	contents = whole()
	contents.Instances[0].Spec.ParametersFrom[0].SecretKeyRef.Key = ""
	require.ErrorContains(t, Write(path, contents, Seal{}), "cannot write the file, which svcat import would refuse: document 6: ServiceInstance shop/db: spec.parametersFrom[0]")
	_, err := os.Stat(path)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestLargeHeader: that of a large cluster lists more Secrets than an object may have bytes.
func TestLargeHeader(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "large")
	contents := whole()
	for i := range 30_000 {
		contents.Header.Secrets = append(contents.Header.Secrets, SecretUse{Namespace: "shop", Name: fmt.Sprint("secret-of-a-binding-", i), UsedBy: []string{fmt.Sprint("ServiceBinding shop/a-binding-", i)}})
	}
	require.NoError(t, Write(path, contents, Seal{}))
	_, err := Read(path, Seal{})
	require.NoError(t, err)
}
