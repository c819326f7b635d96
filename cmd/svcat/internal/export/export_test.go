package export

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-of-" + name), Finalizers: []string{v1beta1.FinalizerServiceCatalog}}
}

var isReady = []v1beta1.Condition{{Type: v1beta1.ConditionReady, Status: v1beta1.ConditionTrue}}

func instanceOf(namespace, name string) *v1beta1.ServiceInstance {
	i := &v1beta1.ServiceInstance{ObjectMeta: meta(namespace, name)}
	i.Spec.ExternalID = "id-of-" + name
	i.Spec.ClusterServiceClassRef, i.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "class"}, &v1beta1.ClusterObjectReference{Name: "plan"}
	i.Status.ProvisionStatus, i.Status.DeprovisionStatus, i.Status.Conditions = v1beta1.Provisioned, v1beta1.DeprovisionRequired, isReady
	return i
}

func bindingOf(namespace, name, instance string) *v1beta1.ServiceBinding {
	b := &v1beta1.ServiceBinding{ObjectMeta: meta(namespace, name)}
	b.Spec.ExternalID, b.Spec.InstanceRef = "id-of-"+name, &v1beta1.InstanceReference{Name: instance}
	b.Status.UnbindStatus, b.Status.Conditions = v1beta1.UnbindRequired, isReady
	return b
}

// catalogOfOld is a broker of the cluster with two classes, and one of namespace shop.
func catalogOfOld() []client.Object {
	broker := &v1beta1.ClusterServiceBroker{ObjectMeta: metav1.ObjectMeta{Name: "broker"}}
	broker.Spec.AuthInfo = &v1beta1.ClusterServiceBrokerAuthInfo{Bearer: &v1beta1.ClusterBearerTokenAuthConfig{SecretRef: &v1beta1.ObjectReference{Namespace: "brokers", Name: "token"}}}
	var all []client.Object
	for _, suffix := range []string{"", "-unused"} {
		class := &v1beta1.ClusterServiceClass{ObjectMeta: metav1.ObjectMeta{Name: "class" + suffix}}
		class.Spec.ClusterServiceBrokerName = "broker"
		plan := &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "plan" + suffix}}
		plan.Spec.ClusterServiceBrokerName, plan.Spec.ClusterServiceClassRef.Name = "broker", class.Name
		all = append(all, class, plan)
	}
	return append(all, broker, &v1beta1.ServiceBroker{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "own"}})
}

// readOnly is a cluster that refuses every write, and selection by fields, which the definitions of
// the retired catalog do not have.
func readOnly(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme, err := cli.Scheme()
	require.NoError(t, err)
	wrote := func() error { t.Error("it wrote"); return nil }
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return wrote() },
		Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error { return wrote() },
		Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error { return wrote() },
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return wrote()
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			all := &client.ListOptions{}
			all.ApplyOptions(options)
			assert.Nil(t, all.FieldSelector, "the retired definitions have no fields to select by")
			return c.List(ctx, list, options...)
		},
	}).Build()
}

func names[T client.Object](objects []T) string {
	all := make([]string, len(objects))
	for i, o := range objects {
		all[i] = cli.Qualified(o.GetNamespace(), o.GetName())
	}
	return strings.Join(all, " ")
}

// TestGather: the objects of a namespace, and of the catalog what they need; by reads alone.
func TestGather(t *testing.T) {
	t.Parallel()
	objects := append(catalogOfOld(), instanceOf("shop", "db"), instanceOf("dev", "other"), bindingOf("shop", "app", "db"),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cluster-info"}, Data: map[string]string{"id": "old-cluster"}})
	lost := instanceOf("shop", "lost")
	lost.Spec.ClusterServicePlanRef.Name = "gone"
	c := readOnly(t, append(objects, lost)...)

	g := newGatherer(c)
	got, err := g.gather(t.Context(), "shop", false)
	require.NoError(t, err)
	require.NoError(t, g.secrets(t.Context(), false))
	assert.Equal(t, "shop/db shop/lost", names(got.Instances))
	assert.Equal(t, "shop/app", names(got.Bindings))
	assert.Equal(t, "broker", names(got.Brokers))
	assert.Equal(t, "class", names(got.Classes))
	assert.Equal(t, "plan", names(got.Plans))
	assert.Equal(t, "old-cluster", got.Header.ClusterID)
	assert.Equal(t, []string{"ClusterServicePlan gone is not there any more: what needs it cannot be moved"}, g.notes)
	assert.Len(t, got.Header.Secrets, 2)
	assert.Empty(t, got.Secrets)
	assert.Empty(t, got.Instances[0].Finalizers)

	got, err = newGatherer(c).gather(t.Context(), "", true)
	require.NoError(t, err)
	assert.Equal(t, "dev/other shop/db shop/lost", names(got.Instances))
	assert.Equal(t, "broker shop/own", names(got.Brokers))
	assert.Equal(t, "class class-unused", names(got.Classes))
	assert.Equal(t, "plan plan-unused", names(got.Plans))
}

// TestGatherAnothersID: what has the ID of an object of another namespace is not moved, also where that
// namespace is not exported. The retired catalog lets users choose IDs.
func TestGatherAnothersID(t *testing.T) {
	t.Parallel()
	thief, binding, plain := instanceOf("hostile", "thief"), bindingOf("hostile", "thief", "thief"), instanceOf("hostile", "plain")
	thief.Spec.ExternalID, binding.Spec.ExternalID = "id-of-db", "id-of-app"
	again, none, empty := instanceOf("shop", "plain"), instanceOf("hostile", "none"), instanceOf("shop", "none")
	again.Spec.ExternalID, again.Status.ExternalID, none.Spec.ExternalID, empty.Spec.ExternalID = "id-of-plain", "another", "", ""
	objects := append(catalogOfOld(), thief, binding, plain, again, none, empty, instanceOf("shop", "db"), bindingOf("shop", "app", "db"))
	g := newGatherer(readOnly(t, objects...))
	got, err := g.gather(t.Context(), "hostile", false)
	require.NoError(t, err)
	assert.Equal(t, "hostile/none hostile/plain", names(got.Instances))
	assert.Empty(t, got.Bindings)
	const left, why = " is not in the file, and neither it nor what needs it can be moved: ", " has the same ID at the broker; let one of the two go on the old side, without a call to the broker, then export again"
	assert.Equal(t, []string{"ServiceInstance hostile/thief" + left + "ServiceInstance shop/db" + why, "ServiceBinding hostile/thief" + left + "ServiceBinding shop/app" + why}, g.notes)

	broken := false
	c := interceptor.NewClient(readOnly(t, objects...).(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, inner client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			asked := &client.ListOptions{}
			_, bindings := list.(*v1beta1.ServiceBindingList)
			if asked.ApplyOptions(options); asked.Namespace == "" && bindings && broken {
				return apierrors.NewInternalError(errors.New("etcd is gone"))
			}
			if asked.Namespace == "" {
				return apierrors.NewForbidden(v1beta1.GroupVersion.WithResource("serviceinstances").GroupResource(), "", nil)
			}
			return inner.List(ctx, list, options...)
		},
	})
	g = newGatherer(c)
	got, err = g.gather(t.Context(), "hostile", false)
	require.NoError(t, err)
	assert.Len(t, got.Instances, 3)
	assert.Equal(t, []string{"it cannot be seen whether objects of other namespaces have the same IDs at the broker: there is no right to list them"}, g.notes)
	broken = true
	_, err = newGatherer(c).gather(t.Context(), "hostile", false)
	require.ErrorContains(t, err, "etcd is gone", "one right that is missing hides no failure")
}

// TestGatherWhatNoFileHas: one user's object that is too large for a file keeps no other out of it, but one
// with the same ID at the broker.
func TestGatherWhatNoFileHas(t *testing.T) {
	t.Parallel()
	large, from, plan := instanceOf("hostile", "large"), instanceOf("hostile", "from"), &v1beta1.ClusterServicePlan{ObjectMeta: metav1.ObjectMeta{Name: "huge"}}
	values := &runtime.RawExtension{Raw: []byte(`{"a":[` + strings.Repeat("0,", 150_000) + `0]}`)}
	large.Spec.Parameters, plan.Spec.InstanceCreateParameterSchema = values, values
	from.Spec.ParametersFrom, from.Spec.ExternalID = []v1beta1.ParametersFromSource{{}}, "id-of-mail"
	bound := bindingOf("hostile", "bound", "large")
	bound.Spec.Parameters = values
	g := newGatherer(readOnly(t, append(catalogOfOld(), large, from, plan, bound, instanceOf("shop", "db"), instanceOf("shop", "mail"))...))
	got, err := g.gather(t.Context(), "", true)
	require.NoError(t, err)
	require.NoError(t, g.secrets(t.Context(), false))
	assert.Equal(t, "shop/db", names(got.Instances))
	assert.Empty(t, got.Bindings)
	assert.Equal(t, "plan plan-unused", names(got.Plans))
	const left, many = " is not in the file, and neither it nor what needs it can be moved: ", "it has more than 100000 values, which take too much memory to be read"
	assert.ElementsMatch(t, []string{
		"ClusterServicePlan huge" + left + many, "ServiceInstance hostile/large" + left + many, "ServiceBinding hostile/bound" + left + many,
		"ServiceInstance hostile/from" + left + "spec.parametersFrom[0].secretKeyRef: it names no key of a Secret",
		"ServiceInstance shop/mail" + left + moving.SharedWith(from),
	}, g.notes)
	require.NoError(t, moving.Write(filepath.Join(t.TempDir(), "all.export"), got, moving.Seal{}))
}

// TestGatherImpossibleNames: a reference to a name that nothing can have, which clients refuse to ask for,
// keeps no other object out of the file.
func TestGatherImpossibleNames(t *testing.T) {
	t.Parallel()
	odd, broker := instanceOf("hostile", "odd"), &v1beta1.ServiceBroker{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "odd"}}
	odd.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "a/b"}
	long := instanceOf("hostile", "long")
	long.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: strings.Repeat("a", 1_200_000)} // longer than a header may be
	broker.Spec.AuthInfo = &v1beta1.ServiceBrokerAuthInfo{Basic: &v1beta1.BasicAuthConfig{SecretRef: &v1beta1.LocalObjectReference{Name: "c/d"}}}
	c := interceptor.NewClient(readOnly(t, append(catalogOfOld(), odd, long, broker, instanceOf("shop", "db"))...).(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, inner client.WithWatch, at client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if strings.Contains(at.Name, "/") || len(at.Name) > 1000 {
				return errors.New("invalid resource name") // as the client of an API server says it
			}
			return inner.Get(ctx, at, object, options...)
		},
	})
	g := newGatherer(c)
	got, err := g.gather(t.Context(), "", true)
	require.NoError(t, err)
	require.NoError(t, g.secrets(t.Context(), true))
	assert.Equal(t, "hostile/long hostile/odd shop/db", names(got.Instances))
	assert.Contains(t, g.notes, "ClusterServicePlan a/b is not there any more: what needs it cannot be moved")
	assert.Contains(t, g.notes, "Secret shop/c/d is not there: it is listed, and not carried")
}

// TestGatherSecrets: with --with-secrets only, and of each the keys that are used.
func TestGatherSecrets(t *testing.T) {
	t.Parallel()
	token := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "brokers", Name: "token"}, Data: map[string][]byte{"token": []byte("t"), "more": []byte("m")}}
	c := readOnly(t, append(catalogOfOld(), instanceOf("shop", "db"), bindingOf("shop", "app", "db"), token)...)
	g := newGatherer(c)
	got, err := g.gather(t.Context(), "shop", false)
	require.NoError(t, err)
	require.NoError(t, g.secrets(t.Context(), true))
	assert.Equal(t, "brokers/token", names(got.Secrets))
	assert.Equal(t, map[string][]byte{"token": []byte("t")}, got.Secrets[0].Data)
	assert.Equal(t, []string{"Secret shop/app is not there: it is listed, and not carried"}, g.notes)
	assert.Equal(t, []bool{true, false}, []bool{got.Header.Secrets[0].Carried, got.Header.Secrets[1].Carried})
}

// TestGatherNoForeignSecret: what cannot be moved brings no Secret into the file. A binding may name any of
// the cluster, and is not moved for that; nor does one that failed take along what it names.
func TestGatherNoForeignSecret(t *testing.T) {
	t.Parallel()
	secret := func(namespace, name string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string][]byte{"a": []byte("1"), "b": []byte("2")}}
	}
	thief := bindingOf("hostile", "thief", "db")
	thief.Spec.SecretTransforms = []v1beta1.SecretTransform{{AddKeysFrom: &v1beta1.AddKeysFromTransform{SecretRef: &v1beta1.ObjectReference{Namespace: "kube-system", Name: "admin"}}}}
	from := func(key string) []v1beta1.ParametersFromSource {
		return []v1beta1.ParametersFromSource{{SecretKeyRef: &v1beta1.SecretKeyReference{Name: "parameters", Key: key}}}
	}
	db, failed := instanceOf("hostile", "db"), instanceOf("hostile", "failed")
	db.Spec.ParametersFrom, failed.Spec.ParametersFrom = from("a"), from("b")
	failed.Status.Conditions = nil
	left := bindingOf("hostile", "left", "failed") // it would not be moved without its instance
	g := newGatherer(readOnly(t, append(catalogOfOld(), thief, db, failed, left, secret("kube-system", "admin"), secret("hostile", "thief"), secret("hostile", "left"), secret("hostile", "parameters"))...))
	got, err := g.gather(t.Context(), "hostile", false)
	require.NoError(t, err)
	require.NoError(t, g.secrets(t.Context(), true))
	assert.Equal(t, "hostile/parameters", names(got.Secrets))
	assert.Equal(t, map[string][]byte{"a": []byte("1")}, got.Secrets[0].Data)
	require.Len(t, got.Header.Secrets, 5, "all are listed")
	assert.Equal(t, moving.SecretUse{Namespace: "kube-system", Name: "admin", UsedBy: []string{"ServiceBinding hostile/thief"}}, got.Header.Secrets[4])
}

// TestGatherSecretsThatNoFileHas: one user's Secret that is too large for a file keeps no other out of it.
func TestGatherSecretsThatNoFileHas(t *testing.T) {
	t.Parallel()
	large := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "hostile", Name: "app", Annotations: map[string]string{v1beta1.AnnotationExpiresAt: strings.Repeat(",", 100_001)}}}
	small := &corev1.Secret{ObjectMeta: meta("shop", "late"), Data: map[string][]byte{"a": []byte("1")}}
	hostile := instanceOf("hostile", "theirs")
	g := newGatherer(readOnly(t, append(catalogOfOld(), hostile, bindingOf("hostile", "app", "theirs"), large, instanceOf("shop", "db"), bindingOf("shop", "late", "db"), small)...))
	got, err := g.gather(t.Context(), "", false)
	require.NoError(t, err)
	require.NoError(t, g.secrets(t.Context(), true))
	assert.Equal(t, "shop/late", names(got.Secrets))
	assert.Contains(t, g.notes, "Secret hostile/app is listed, and not carried: it has more than 100000 values, which take too much memory to be read")
	require.NoError(t, moving.Write(filepath.Join(t.TempDir(), "all.export"), got, moving.Seal{}))
}

// TestGatherBrokersSecrets: a reference alone brings no credentials of a broker into the file.
func TestGatherBrokersSecrets(t *testing.T) {
	t.Parallel()
	token := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "brokers", Name: "token"}, Data: map[string][]byte{"token": []byte("t")}}
	never := instanceOf("hostile", "never")
	never.Status = v1beta1.ServiceInstanceStatus{}
	for _, allBrokers := range []bool{false, true} {
		g := newGatherer(readOnly(t, append(catalogOfOld(), never.DeepCopy(), token)...))
		got, err := g.gather(t.Context(), "hostile", allBrokers)
		require.NoError(t, err)
		require.NoError(t, g.secrets(t.Context(), true))
		require.Len(t, got.Brokers, 1)
		assert.Equal(t, allBrokers, len(got.Secrets) == 1, "all brokers were asked for: %t", allBrokers)
	}
}

// TestNotesAreLines: names that users wrote forge no line, and steer no terminal.
func TestNotesAreLines(t *testing.T) {
	t.Parallel()
	var told strings.Builder
	e := &export{env: cli.NewEnv(genericiooptions.IOStreams{Out: io.Discard, ErrOut: &told})}
	require.NoError(t, e.summarize(&moving.Contents{}, []string{"Plan a\nInstance shop/db is gone \x1b[31mred", strings.Repeat("x", 10_000)}))
	lines := strings.Split(strings.TrimSuffix(told.String(), "\n"), "\n")
	require.Len(t, lines, 2)
	assert.Equal(t, "Plan a Instance shop/db is gone \ufffd[31mred", lines[0])
	assert.Less(t, len(lines[1]), 1000)
}

// TestGatherAddress: the retired catalog sends a password that is in the address of a broker. It is
// a secret, which a file that is not encrypted has none of.
func TestGatherAddress(t *testing.T) {
	t.Parallel()
	broker := &v1beta1.ClusterServiceBroker{ObjectMeta: meta("", "broker")}
	broker.Spec.URL = "https://admin:s3cret@broker.example.com/osb"
	broker.Status.Conditions = []v1beta1.Condition{{Type: v1beta1.ConditionReady, Message: "Get https://admin:s3cret@broker.example.com/osb/v2/catalog: EOF"}}
	instance, binding := instanceOf("shop", "db"), bindingOf("shop", "app", "db")
	instance.Status.Conditions, binding.Status.Conditions = slices.Clone(broker.Status.Conditions), slices.Clone(broker.Status.Conditions)
	binding.Status.Rotation = &v1beta1.BindingRotation{Message: broker.Status.Conditions[0].Message}
	g := newGatherer(readOnly(t, append(catalogOfOld()[:4], broker, instance, binding)...))
	got, err := g.gather(t.Context(), "shop", true)
	require.NoError(t, err)
	assert.Equal(t, "https://broker.example.com/osb", got.Brokers[0].GetSpec().URL)
	text, err := json.Marshal(got)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "s3cret", "nor where conditions of any object repeat the address")
	assert.Equal(t, v1beta1.ConditionReady, got.Instances[0].Status.Conditions[0].Type, "the release asks for it")
	assert.Equal(t, []string{"the address of ClusterServiceBroker broker has credentials, which are not in the file: write them into a Secret that its authInfo names"}, g.notes)
}

// TestSummary: what cannot be moved is told, and no message of a broker.
func TestSummary(t *testing.T) {
	t.Parallel()
	failed := instanceOf("shop", "db")
	failed.Status.Conditions = []v1beta1.Condition{{Type: v1beta1.ConditionFailed, Status: v1beta1.ConditionTrue, Reason: "ProvisionCallFailed", Message: "s3cret"}}
	streams, _, out, told := genericiooptions.NewTestIOStreams()
	e := &export{env: cli.NewEnv(streams), output: "shop.export"}
	require.NoError(t, e.summarize(&moving.Contents{Instances: []*v1beta1.ServiceInstance{failed, instanceOf("shop", "fine")}}, []string{"a note"}))
	assert.Contains(t, out.String(), "it failed: ProvisionCallFailed; repair or delete it on the old side, then export again")
	assert.NotContains(t, out.String(), "s3cret")
	assert.NotContains(t, out.String(), "fine")
	assert.Contains(t, out.String(), "shop.export was written (instances: 2, bindings: 0, brokers: 0, classes: 0, plans: 0); Secrets listed: 0, carried: 0; --with-secrets carries their contents")
	assert.Equal(t, "a note\n", told.String())
}

// TestCommandLines: what is refused before anything is read.
func TestCommandLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ reason, args, want string }{
		"NoFile":          {"there is a file to write", "", "-o FILE is required"},
		"Argument":        {"no argument", "shop.export", "takes no arguments"},
		"PlainSecrets":    {"Secrets are never written in the clear", "-o x --with-secrets", "--with-secrets carries the contents of Secrets, and the file would be readable"},
		"TwoSeals":        {"one way to encrypt", "-o x --recipient age1 --passphrase-file p", "exclude each other"},
		"Identity":        {"it opens a file", "-o x --identity i", "--identity opens the file of --release"},
		"NoOtherCluster":  {"what is Ready there is let go", "--release x", "--release needs --to-kubeconfig FILE"},
		"ReleaseAndWrite": {"one of both", "--release x --to-kubeconfig k -o y", "goes without -o"},
		"DryRun":          {"an export only reads", "-o x --dry-run", "go with --release FILE"},
		"Map":             {"two names", "--release x --to-kubeconfig k --map a", "write it as OLD=NEW"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := New(cli.NewEnv(genericiooptions.NewTestIOStreamsDiscard()))
			cmd.SilenceUsage, cmd.SilenceErrors = true, true
			cmd.SetArgs(strings.Fields(c.args))
			err := cmd.ExecuteContext(t.Context())
			require.ErrorContains(t, err, c.want, c.reason)
			assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
		})
	}
	_, err := os.Stat(filepath.Join(".", "x"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
