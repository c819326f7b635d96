package importing

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

const everythingMoved = `Secret token: moved keys: token
ClusterServiceBroker azure: moved at https://broker.example.com/: Adopted
ClusterServiceClass class: note its broker calls it "mysql-here" here, and called it "mysql": it is the same by its ID
ClusterServicePlan plan: note its broker calls it "small-here" here, and called it "small": it is the same by its ID
ServiceInstance db: moved Adopted
`

const bindingMoved = "ServiceBinding app: moved Adopted\n"

// TestImport: brokers, instances and bindings in this order, each adopted by its ID and with the
// names that its class and plan have here; run again, nothing is left to do.
func TestImport(t *testing.T) {
	t.Parallel()
	c := newCluster(t, namespaces("brokers", "store")...)
	tr := &trial{contents: exported(), flags: []string{"--map", "shop=store"}}
	tr.contents.Plans[0].GetSpec().InstanceCreateParameterSchema = &runtime.RawExtension{Raw: []byte(`{}`)} // which asks for nothing
	got, err := c.run(t.Context(), tr)
	require.NoError(t, err)
	assert.Equal(t, everythingMoved+"Secret app: moved keys: password\n"+bindingMoved, got)
	assert.Equal(t, []string{
		"Secret brokers/token", "ClusterServiceBroker azure", "ServiceInstance store/db", "Secret store/app", "ServiceBinding store/app",
	}, c.creates)

	db := &v1beta1.ServiceInstance{}
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "store", Name: "db"}, db))
	assert.Equal(t, "true", db.Annotations[v1beta1.AnnotationAdopt])
	assert.Equal(t, "id-of-db", db.Spec.ExternalID)
	assert.Equal(t, "class-here", db.Spec.ClusterServiceClassName)
	assert.Equal(t, "small-here", db.Spec.ClusterServicePlanExternalName)
	assert.Equal(t, "plan-here", db.Spec.ClusterServicePlanRef.Name)
	assert.JSONEq(t, `{"password":"`+canary+`"}`, string(db.Spec.Parameters.Raw))

	app := &v1beta1.ServiceBinding{}
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "store", Name: "app"}, app))
	assert.Equal(t, "true", app.Annotations[v1beta1.AnnotationAdopt])
	assert.Equal(t, "class-here", app.Spec.ClusterServiceClassRef.Name, "admission takes it as decided, and adds no default")
	kept := &corev1.Secret{}
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "store", Name: "app"}, kept))
	assert.Equal(t, "id-of-app", kept.Annotations[v1beta1.AnnotationCredentialsOf])
	assert.Empty(t, kept.OwnerReferences)
	assert.Equal(t, canary, string(kept.Data["password"]))

	made := len(c.creates)
	tr.contents.Plans[0].GetSpec().InstanceCreateParameterSchema.Raw = []byte(`{"type":"object"}`)
	got, err = c.run(t.Context(), tr)
	require.NoError(t, err)
	assert.Contains(t, got, "ClusterServiceBroker azure: unchanged Adopted\n")
	assert.Contains(t, got, "ClusterServicePlan plan: note its parameter schemas are others here: they count for later changes\n")
	assert.Contains(t, got, "ServiceInstance db: unchanged Adopted\nServiceBinding app: unchanged Adopted\n")
	assert.Len(t, c.creates, made)
}

// TestImportResumes: cut after each of its writes, it goes on to the same end.
func TestImportResumes(t *testing.T) {
	t.Parallel()
	for cut := range 7 {
		c := newCluster(t, namespaces("brokers", "shop")...)
		c.left = cut
		_, err := c.run(t.Context(), &trial{contents: exported()})
		require.Equal(t, cut <= 5, err != nil, "cut after %d writes", cut)
		c.left = -1
		got, err := c.run(t.Context(), &trial{contents: exported()})
		require.NoError(t, err, "after %d writes: %s", cut, got)
		assert.Len(t, c.creates, 5, "each is made once")
		if cut == 4 {
			assert.Contains(t, got, "Secret app: unchanged\n")
		}
	}
}

// TestInterrupt: what was made before it is in the report, and so is what was not.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	c := newCluster(t, namespaces("brokers", "shop")...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.interrupt = cancel
	got, err := c.run(ctx, &trial{contents: exported()})
	require.Error(t, err)
	assert.Contains(t, got, "Secret token: moved")
	assert.Contains(t, got, "ClusterServiceBroker azure: waiting at https://broker.example.com/: ")
	assert.Contains(t, got, "ServiceInstance db: not moved interrupted before it\nServiceBinding app: not moved interrupted before it\n")
	assert.Equal(t, []string{"Secret brokers/token", "ClusterServiceBroker azure"}, c.creates)
}

// TestDryRun: nothing is written, and what cannot be known without a broker is said.
func TestDryRun(t *testing.T) {
	t.Parallel()
	c := newCluster(t, namespaces("brokers")...)
	got, err := c.run(t.Context(), &trial{contents: exported(), dryRun: true, create: true})
	require.NoError(t, err)
	assert.Equal(t, `Namespace shop: note would be created
Secret token: would move keys: token
ClusterServiceBroker azure: would move at https://broker.example.com/
ServiceInstance db: would move not tried: its broker is not here yet
ServiceBinding app: would move not tried: its instance is not here yet
`, got)
	assert.Empty(t, c.creates)
	_, err = c.run(t.Context(), &trial{contents: exported(), dryRun: true})
	require.EqualError(t, err, "cannot import: not here: namespace shop\n  → kubectl create namespace shop\n  → or have import create them: --create-namespaces\n  → or import into others: --map OLD=NEW")
	got, err = c.run(t.Context(), &trial{contents: exported(), create: true})
	require.NoError(t, err)
	assert.Contains(t, got, "ServiceBinding app: moved")
	assert.Contains(t, got, "Namespace shop: note created\n")
	assert.Equal(t, "*v1.Namespace shop", c.creates[0])
	got, err = c.run(t.Context(), &trial{contents: exported(), dryRun: true})
	require.NoError(t, err)
	assert.NotContains(t, got, "would move")
	got, err = c.run(t.Context(), &trial{contents: exported(), dryRun: true, create: true, flags: []string{"--map", "shop=store"}})
	require.NoError(t, err)
	assert.Contains(t, got, "ServiceInstance db: would move not tried: its namespace is not here yet")
	assert.Contains(t, got, "Namespace store: note would be created\n")
}

// TestNamespaceOfAnother: a namespace that another client created meanwhile is not said to be created.
func TestNamespaceOfAnother(t *testing.T) {
	t.Parallel()
	c := newCluster(t, namespaces("brokers")...)
	c.rival = true
	got, err := c.run(t.Context(), &trial{contents: exported(), create: true})
	require.NoError(t, err)
	assert.Contains(t, got, "ServiceBinding app: moved")
	assert.NotContains(t, got, "Namespace")
}

// TestUnverifiedCertificate: that a certificate is not verified is carried, and said.
func TestUnverifiedCertificate(t *testing.T) {
	t.Parallel()
	for _, dryRun := range []bool{true, false} {
		contents := exported()
		contents.Brokers[0].GetSpec().InsecureSkipTLSVerify = true
		got, err := newCluster(t, namespaces("brokers", "shop")...).run(t.Context(), &trial{contents: contents, dryRun: dryRun})
		require.NoError(t, err)
		assert.Contains(t, got, "at https://broker.example.com/; its certificate is not verified (spec.insecureSkipTLSVerify)")
	}
	// And before a Secret or what is typed is sent there: an address does not make up lines of its own.
	for in, want := range map[string]string{
		"n\n":     "are sent.\nIs that its broker? [y/N]: ",
		"typed\n": "token of broker \"azure\" at ",
	} {
		contents, c := exported(), newCluster(t, append(namespaces("brokers", "shop", "mine"), secret("mine", "token", "token"))...)
		contents.Secrets = contents.Secrets[1:]
		contents.Brokers[0].GetSpec().URL, contents.Brokers[0].GetSpec().InsecureSkipTLSVerify = "https://evil.example/\nhttps://broker.example.com/", true
		asked := &trial{contents: contents, in: in}
		if in == "n\n" {
			asked.flags = []string{"--broker-secret", "brokers/token=mine/token"}
		}
		_, _ = c.run(t.Context(), asked)
		assert.Contains(t, c.told, want)
		assert.Contains(t, c.told, "at https://evil.example/ https://broker.example.com/; its certificate is not verified (spec.insecureSkipTLSVerify)")
	}
}

// TestBrokersHere: one of the same address is used as it is, under whatever name; others are in the way.
func TestBrokersHere(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		here   []client.Object
		want   string
	}{
		"SameAddress":  {"it is the same", []client.Object{clusterBroker("other-name", "https://broker.example.com")}, "azure: unchanged Adopted"},
		"OtherAddress": {"its name is taken", []client.Object{clusterBroker("azure", "https://elsewhere.example.com")}, "azure: conflict a broker of that name is here with another address: register this one under another name"},
		"OtherName":    {"it was registered under another name", []client.Object{clusterBroker("azure", "https://elsewhere.example.com"), clusterBroker("old-azure", "https://broker.example.com")}, "azure: unchanged"},
		"Two":          {"which is it?", []client.Object{clusterBroker("a", "https://broker.example.com"), clusterBroker("b", "https://broker.example.com")}, `azure: conflict brokers "a" and "b" here have its address`},
		"OfTwoByName":  {"that of its name", []client.Object{clusterBroker("a", "https://broker.example.com"), clusterBroker("azure", "https://broker.example.com")}, "azure: unchanged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, append(namespaces("brokers", "shop"), tc.here...)...)
			got, _ := c.run(t.Context(), &trial{contents: exported()})
			assert.Contains(t, got, tc.want, tc.reason)
			assert.NotContains(t, c.creates, "ClusterServiceBroker azure")
		})
	}
}

// TestBrokerCredentials: carried, named, or typed; a Secret that is here is never used because a
// file names it.
func TestBrokerCredentials(t *testing.T) {
	t.Parallel()
	without := func() *moving.Contents {
		contents := exported()
		contents.Secrets = contents.Secrets[1:]
		return contents
	}
	auth := func(t *testing.T, c *cluster) string {
		t.Helper()
		b := &v1beta1.ClusterServiceBroker{}
		require.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: "azure"}, b))
		return b.Spec.AuthInfo.Bearer.SecretRef.Namespace + "/" + b.Spec.AuthInfo.Bearer.SecretRef.Name
	}
	here := append(namespaces("brokers", "shop", "mine"), secret("mine", "token", "token"))

	c := newCluster(t, here...)
	named := []string{"--broker-secret", "brokers/token=mine/token"}
	got, err := c.run(t.Context(), &trial{contents: without(), flags: named, in: "n\n"})
	require.Error(t, err)
	assert.Contains(t, got, "azure: not moved not confirmed: nothing was changed", "the address is the file's")
	assert.Empty(t, c.creates)
	_, err = c.run(t.Context(), &trial{contents: without(), flags: named, dryRun: true})
	require.NoError(t, err)
	assert.Empty(t, c.told, "a dry run sends nothing")
	_, err = c.run(t.Context(), &trial{contents: without(), flags: named, in: "y\n"})
	require.NoError(t, err)
	assert.Contains(t, c.told, "ClusterServiceBroker azure is registered at https://broker.example.com/, to which the credentials of Secret mine/token are sent.\nIs that its broker? [y/N]: ")
	assert.Equal(t, "mine/token", auth(t, c))
	c = newCluster(t, here...)
	_, err = c.run(t.Context(), &trial{contents: without(), flags: append(named, "--yes")})
	require.NoError(t, err)
	assert.NotContains(t, c.told, "[y/N]")

	c = newCluster(t, here...)
	got, err = c.run(t.Context(), &trial{contents: without(), flags: []string{"--broker-secret", "brokers/token=mine/none"}})
	require.Error(t, err)
	assert.Contains(t, got, "azure: not moved Secret mine/none of --broker-secret is not here")
	assert.Contains(t, got, "ServiceInstance db: not moved ClusterServicePlan plan, its plan: ClusterServiceBroker azure is not usable here")
	assert.Contains(t, got, "ServiceBinding app: not moved its instance shop/db was not moved")

	local := without()
	local.Brokers[0] = &v1beta1.ServiceBroker{ObjectMeta: meta("shop", "own"), Spec: v1beta1.ServiceBrokerSpec{
		CommonServiceBrokerSpec: v1beta1.CommonServiceBrokerSpec{URL: "https://broker.example.com"},
		AuthInfo:                &v1beta1.ServiceBrokerAuthInfo{Bearer: &v1beta1.BearerTokenAuthConfig{SecretRef: &v1beta1.LocalObjectReference{Name: "token"}}},
	}}
	c = newCluster(t, here...)
	got, err = c.run(t.Context(), &trial{contents: local, flags: []string{"--broker-secret", "shop/token=mine/token"}})
	require.Error(t, err)
	assert.Contains(t, got, "own: not moved Secret mine/token of --broker-secret is in another namespace than the broker")

	c = newCluster(t, here...)
	_, err = c.run(t.Context(), &trial{contents: without(), in: "typed\n"})
	require.NoError(t, err)
	assert.Equal(t, "token of broker \"azure\" at https://broker.example.com/: \n", c.told, "with the address that it is for")
	assert.Equal(t, "brokers/token", auth(t, c))
	typed := &corev1.Secret{}
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "brokers", Name: "token"}, typed))
	assert.Equal(t, "typed", string(typed.Data["token"]))

	c = newCluster(t, namespaces("shop")...)
	got, err = c.run(t.Context(), &trial{contents: without(), in: "typed\n"})
	require.Error(t, err)
	assert.Contains(t, got, `azure: not moved namespace "brokers" of Secret brokers/token with its credentials is not here`)
	assert.Empty(t, c.told, "it is not asked for what cannot be stored")

	// An attacker's file, which names a Secret of the new side and an address of its own.
	c = newCluster(t, append(namespaces("brokers", "shop"), secret("brokers", "token", "token"))...)
	got, err = c.run(t.Context(), &trial{contents: without(), dryRun: true})
	require.Error(t, err)
	assert.Contains(t, got, "its credentials are not in the file: create a Secret with token and name it: --broker-secret brokers/token=NAMESPACE/NAME")
	got, err = c.run(t.Context(), &trial{contents: without(), in: "guess\n"})
	require.Error(t, err)
	assert.Contains(t, got, "Secret brokers/token is here with other contents")
	assert.NotContains(t, c.creates, "ClusterServiceBroker azure")

	require.EqualError(t, (&secretFlags{given: []string{"brokers/tokn=mine/token"}}).unused(exported()), "--broker-secret names brokers/tokn, and no broker of the file uses that Secret")
	require.NoError(t, (&secretFlags{given: []string{"brokers/token=mine/token"}}).unused(exported()))
	for _, wrong := range []string{"a", "a=b", "a/b=c", "a/b=../c", "a/b=c/d/e"} {
		require.ErrorContains(t, (&secretFlags{given: []string{wrong}}).validate(), "write it as OLDNS/NAME=NEWNS/NAME", wrong)
	}
}

// TestForeignSecretsOfBrokers: of several that a file names one counts, and it is replaced.
func TestForeignSecretsOfBrokers(t *testing.T) {
	t.Parallel()
	foreign := &v1beta1.ObjectReference{Namespace: "kube-system", Name: "admin"}
	for name, tc := range map[string]struct {
		reason string
		given  v1beta1.ClusterServiceBrokerAuthInfo
		want   *v1beta1.ClusterServiceBrokerAuthInfo
	}{
		"Both": {
			"the second goes", v1beta1.ClusterServiceBrokerAuthInfo{
				Basic:  &v1beta1.ClusterBasicAuthConfig{SecretRef: &v1beta1.ObjectReference{Namespace: "brokers", Name: "token"}},
				Bearer: &v1beta1.ClusterBearerTokenAuthConfig{SecretRef: foreign},
			},
			&v1beta1.ClusterServiceBrokerAuthInfo{Basic: &v1beta1.ClusterBasicAuthConfig{SecretRef: &v1beta1.ObjectReference{Namespace: "store", Name: "token"}}},
		},
		"Nameless": {
			"so does one behind an empty one", v1beta1.ClusterServiceBrokerAuthInfo{
				Basic: &v1beta1.ClusterBasicAuthConfig{SecretRef: &v1beta1.ObjectReference{}}, Bearer: &v1beta1.ClusterBearerTokenAuthConfig{SecretRef: foreign},
			}, nil,
		},
	} {
		contents := exported()
		broker := clusterBroker("azure", "https://attacker.example.com")
		broker.Spec.AuthInfo = &tc.given
		contents.Brokers[0] = broker
		c := newCluster(t, append(namespaces("shop", "store"), secret("kube-system", "admin", "token"))...)
		_, err := c.run(t.Context(), &trial{contents: contents, flags: []string{"--map", "brokers=store"}})
		require.NoError(t, err, name)
		got := &v1beta1.ClusterServiceBroker{}
		require.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: "azure"}, got))
		assert.Equal(t, tc.want, got.Spec.AuthInfo, tc.reason)
	}
}

// TestNotMoved: each with its reason, and nothing of it is created.
func TestNotMoved(t *testing.T) {
	t.Parallel()
	fails := func(reason string) []v1beta1.Condition {
		return []v1beta1.Condition{{Type: v1beta1.ConditionFailed, Status: v1beta1.ConditionTrue, Reason: reason, Message: "the message"}}
	}
	for name, tc := range map[string]struct {
		reason string
		change func(*cluster, *moving.Contents)
		want   string
		made   bool
	}{
		"Busy": {"in the middle of an operation", func(_ *cluster, f *moving.Contents) { f.Instances[0].Status.CurrentOperation = "Update" },
			"ServiceInstance db: not moved it is in the middle of an operation (Update); let the old side finish, then export again\nServiceBinding app: not moved its instance shop/db was not moved", false},
		"NoPlan": {"the plan was gone", func(_ *cluster, f *moving.Contents) { f.Plans = nil },
			"ServiceInstance db: not moved ClusterServicePlan plan, its plan, is not in the file", false},
		"NoPlanHere": {"the broker has it no more", func(_ *cluster, f *moving.Contents) { f.Plans[0].GetSpec().ExternalID = "other" },
			`ClusterServicePlan plan: not moved its class has no plan with the ID "other" here`, false},
		"NoClassHere": {"nor the class", func(_ *cluster, f *moving.Contents) { f.Classes[0].GetSpec().ExternalID = "other" },
			`ClusterServiceClass class: not moved its broker lists no class with the ID "other" here`, false},
		"NoBroker": {"nor the broker", func(_ *cluster, f *moving.Contents) { f.Brokers = nil },
			"ClusterServiceClass class: not moved ClusterServiceBroker azure is not in the file", false},
		"NoCatalog": {"the broker does not answer", func(c *cluster, _ *moving.Contents) {
			c.becomes["azure"] = []v1beta1.Condition{{Type: v1beta1.ConditionReady, Status: v1beta1.ConditionFalse, Reason: "ErrorFetchingCatalog", Message: "no answer"}}
		}, "ClusterServiceBroker azure: waiting at https://broker.example.com/: ErrorFetchingCatalog: no answer; run the same command again to go on", false},
		"NoParameters": {"a Secret of parametersFrom", func(_ *cluster, f *moving.Contents) {
			f.Instances[0].Spec.ParametersFrom = []v1beta1.ParametersFromSource{{SecretKeyRef: &v1beta1.SecretKeyReference{Name: "more", Key: "json"}}}
		}, "ServiceInstance db: not moved Secret shop/more, which its spec names, is not here: create it, or export with --with-secrets", false},
		"NotAtBroker": {"it failed here", func(c *cluster, _ *moving.Contents) { c.becomes["db"] = fails("NotAtBroker") },
			"ServiceInstance db: not moved it failed here: NotAtBroker: the message", true},
		"Late": {"it is not decided yet", func(c *cluster, _ *moving.Contents) { c.becomes["db"] = nil },
			"ServiceInstance db: waiting nothing was said of it yet; is the controller running?; run the same command again to go on", true},
		"Stale": {"of an earlier spec", func(c *cluster, _ *moving.Contents) {
			c.becomes["db"] = ready("Adopted")
			c.becomes["db"][0].ObservedGeneration = 7
		}, "ServiceInstance db: waiting Adopted; run the same command again to go on", true},
		"NoCredentials": {"they are nowhere", func(_ *cluster, f *moving.Contents) { f.Secrets = f.Secrets[:1] },
			"ServiceBinding app: not moved its credentials are neither in the file nor here, and its broker does not give them again: export with --with-secrets, or create Secret shop/app with them and the annotation servicecatalog.kubernetes.io/credentials-of=id-of-app", true},
		"OtherNamespace": {"its instance was not exported", func(_ *cluster, f *moving.Contents) { f.Bindings[0].Spec.InstanceRef.Namespace = "dev" },
			"ServiceBinding app: not moved its instance dev/db is not in the file: export it, too", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, namespaces("brokers", "shop")...)
			contents := exported()
			tc.change(c, contents)
			got, err := c.run(t.Context(), &trial{contents: contents})
			require.Error(t, err, tc.reason)
			assert.Contains(t, got, tc.want, tc.reason)
			assert.NotContains(t, c.creates, "ServiceBinding shop/app")
			assert.Equal(t, tc.made, slices.Contains(c.creates, "ServiceInstance shop/db"), tc.reason)
		})
	}
}

// TestConflicts: what is here otherwise is named by its fields, without a value, and not overwritten.
func TestConflicts(t *testing.T) {
	t.Parallel()
	other := instance("db")
	other.Spec.ExternalID, other.Spec.Parameters = "mine", nil
	other.Spec.ClusterServicePlanRef.Name = "plan-here"
	c := newCluster(t, append(namespaces("brokers", "shop"), other)...)
	got, err := c.run(t.Context(), &trial{contents: exported()})
	require.Error(t, err)
	assert.Contains(t, got, "ServiceInstance db: conflict another one of that name is here, with other values in spec.externalID, spec.parameters; it is not overwritten")

	going := instance("db")
	going.Finalizers, going.DeletionTimestamp = []string{v1beta1.FinalizerServiceCatalog}, new(metav1.Now())
	going.Spec.ClusterServicePlanRef.Name = "plan-here"
	c = newCluster(t, append(namespaces("brokers", "shop"), going)...)
	got, err = c.run(t.Context(), &trial{contents: exported()})
	require.Error(t, err)
	assert.Contains(t, got, "ServiceInstance db: conflict one of that name is being deleted here")

	bound := binding("app", "db")
	bound.Spec.SecretTransforms = []v1beta1.SecretTransform{{RemoveKey: &v1beta1.RemoveKeyTransform{Key: "x"}}}
	c = newCluster(t, append(namespaces("brokers", "shop"), bound)...)
	got, err = c.run(t.Context(), &trial{contents: exported()})
	require.Error(t, err)
	assert.Contains(t, got, "ServiceBinding app: conflict it is here under the same ID, with other values in spec.secretTransforms: it is not overwritten")
	assert.NotContains(t, got, "remove", "it may have the database already")

	c = newCluster(t, append(namespaces("brokers", "shop"), secret("shop", "app", "other-key"))...)
	got, err = c.run(t.Context(), &trial{contents: exported()})
	require.Error(t, err)
	assert.Contains(t, got, "ServiceBinding app: not moved Secret shop/app is here with other contents")
	assert.NotContains(t, c.creates, "ServiceBinding shop/app")
}

// TestImportUnderOtherNames: an instance and its binding have other names here, and their Secrets do not.
func TestImportUnderOtherNames(t *testing.T) {
	t.Parallel()
	c := newCluster(t, namespaces("brokers", "store")...)
	tr := &trial{contents: exported(), flags: []string{"--map", "shop=store", "--map", "instance/shop/db=orders", "--map", "binding/shop/app=reader"}}
	_, err := c.run(t.Context(), tr)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"Secret brokers/token", "ClusterServiceBroker azure", "ServiceInstance store/orders", "Secret store/app", "ServiceBinding store/reader",
	}, c.creates)
	reader := &v1beta1.ServiceBinding{}
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "store", Name: "reader"}, reader))
	assert.Equal(t, "orders", reader.InstanceKey().Name)
	assert.Equal(t, "app", reader.Spec.SecretName)
	assert.Equal(t, "id-of-app", reader.Spec.ExternalID)
	got, err := c.run(t.Context(), tr)
	require.NoError(t, err)
	assert.Contains(t, got, "ServiceInstance db: unchanged Adopted\nServiceBinding app: unchanged Adopted\n")
}

// TestTwoOfOneSecret: of two bindings that come into one namespace with Secrets of one name, the second
// does not move, also under another name.
func TestTwoOfOneSecret(t *testing.T) {
	t.Parallel()
	contents := exported()
	app := binding("app", "db")
	app.Namespace, app.Spec.ExternalID, app.Spec.InstanceRef.Namespace = "dev", "id-of-another", "shop"
	contents.Bindings, contents.Secrets = append(contents.Bindings, app), append(contents.Secrets, secret("dev", "app", "token"))
	c := newCluster(t, namespaces("brokers", "shop")...)
	got, err := c.run(t.Context(), &trial{contents: contents, flags: []string{"--map", "dev=shop", "--map", "binding/dev/app=reader"}})
	require.Error(t, err)
	assert.Contains(t, got, bindingMoved+"ServiceBinding app: not moved Secret shop/app is here with other contents")
	assert.NotContains(t, c.creates, "ServiceBinding shop/reader")
}

// TestCollisions: of two objects that --map brings to one place, a dry run tells, too.
func TestCollisions(t *testing.T) {
	t.Parallel()
	contents := exported()
	db, app := instance("db"), binding("app", "db")
	db.Namespace, db.Spec.ExternalID, app.Namespace, app.Spec.ExternalID = "dev", "id-of-another", "dev", "id-of-another"
	contents.Instances, contents.Bindings = append(contents.Instances, db), append(contents.Bindings, app)
	for _, dryRun := range []bool{true, false} {
		c := newCluster(t, namespaces("brokers", "shop")...)
		got, err := c.run(t.Context(), &trial{contents: contents, flags: []string{"--map", "dev=shop"}, dryRun: dryRun})
		require.Error(t, err)
		assert.Contains(t, got, "ServiceInstance db: conflict ServiceInstance shop/db comes to the same place: give it or its namespace another name with --map\n")
		assert.Contains(t, got, "ServiceBinding app: conflict ServiceBinding shop/app comes to the same place")
		assert.Equal(t, !dryRun, slices.Contains(c.creates, "ServiceBinding shop/app"), "the first moves")
	}
}

// TestRetrievableBindings: their credentials come from the broker, and no Secret is needed.
func TestRetrievableBindings(t *testing.T) {
	t.Parallel()
	c := newCluster(t, namespaces("brokers", "shop")...)
	c.retrievable = true
	contents := exported()
	contents.Secrets = contents.Secrets[:1]
	got, err := c.run(t.Context(), &trial{contents: contents})
	require.NoError(t, err)
	assert.Equal(t, everythingMoved+bindingMoved, got)
	assert.NotContains(t, c.creates, "Secret shop/app")
}

// TestAddressesInAnothersName: a binding that can have a Service lead to addresses of its user's choice
// is told, since that is allowed by the rights of the user who imports it.
func TestAddressesInAnothersName(t *testing.T) {
	t.Parallel()
	const note = "ServiceBinding app: note it is imported in your name"
	own := &v1beta1.ServiceClass{}
	own.Spec.ServiceBrokerName = "own"
	joined := &v1beta1.ServiceClass{}
	joined.Spec.ClusterServiceBrokerName = "azure"
	for name, tc := range map[string]struct {
		reason string
		class  v1beta1.ClassObject
		from   bool
		want   int
	}{
		"OfTheCluster": {"its operators answer for it", &v1beta1.ClusterServiceClass{}, false, 0},
		"Joined":       {"as for what a namespace's class joins", joined, false, 0},
		"Own":          {"the broker is a user's", own, false, 1},
		"Credentials":  {"a parameter may come back as one", &v1beta1.ClusterServiceClass{}, true, 1},
	} {
		step := &bindingStep{side: &side{report: &moving.Report{}, names: &moving.Names{}}}
		b := binding("app", "db")
		if tc.from {
			b.Spec.EndpointsFrom = []v1beta1.EndpointFrom{{HostKey: "host", PortKey: "port"}}
		}
		step.tellAddresses(b, tc.class)
		assert.Len(t, step.report.Objects, tc.want, "%s: %s", name, tc.reason)
	}
	contents := exported()
	contents.Bindings[0].Spec.EndpointsFrom = []v1beta1.EndpointFrom{{HostKey: "host", PortKey: "port"}}
	got, err := newCluster(t, namespaces("brokers", "shop")...).run(t.Context(), &trial{contents: contents})
	require.NoError(t, err)
	assert.Contains(t, got, note)
	assert.Contains(t, got, "ServiceBinding app: moved")
}

// TestParametersOfSecrets: those that a spec names are carried, or are here and told.
func TestParametersOfSecrets(t *testing.T) {
	t.Parallel()
	contents := exported()
	contents.Instances[0].Spec.ParametersFrom = []v1beta1.ParametersFromSource{{SecretKeyRef: &v1beta1.SecretKeyReference{Name: "more", Key: "json"}}}
	c := newCluster(t, append(namespaces("brokers", "shop"), secret("shop", "more", "json"))...)
	got, err := c.run(t.Context(), &trial{contents: contents})
	require.NoError(t, err)
	assert.Contains(t, got, "Secret more: note it was here before, and a spec of the file names it")
	contents.Secrets = append(contents.Secrets, secret("shop", "more", "json"))
	c = newCluster(t, namespaces("brokers", "shop")...)
	got, err = c.run(t.Context(), &trial{contents: exportedWith(contents)})
	require.NoError(t, err)
	assert.Contains(t, got, "Secret more: moved keys: json\n", "what a file has be created is told")
	assert.Contains(t, c.creates, "Secret shop/more")
}

// exportedWith is a file of the same objects.
func exportedWith(contents *moving.Contents) *moving.Contents {
	return &moving.Contents{
		Brokers: contents.Brokers, Classes: contents.Classes, Plans: contents.Plans,
		Instances: contents.Instances, Bindings: contents.Bindings, Secrets: contents.Secrets,
	}
}

// TestSecretTypes: a Secret to which the cluster gives a meaning is never made from a file.
func TestSecretTypes(t *testing.T) {
	t.Parallel()
	hostile := secret("shop", "app", "x")
	hostile.Type, hostile.Annotations = corev1.SecretTypeServiceAccountToken, map[string]string{corev1.ServiceAccountNameKey: "admin"}
	got := placed(hostile, types.NamespacedName{Namespace: "store", Name: "app"})
	assert.Equal(t, corev1.SecretTypeOpaque, got.Type)
	assert.Empty(t, got.Annotations)
	assert.Equal(t, "store", got.Namespace)
	hostile.Type = "servicebinding.io/mysql"
	assert.Equal(t, hostile.Type, placed(hostile, types.NamespacedName{}).Type)
}

// TestSharing: names of namespaces within specs are mapped, too.
func TestSharing(t *testing.T) {
	t.Parallel()
	contents := exported()
	contents.Instances[0].Spec.Sharing = &v1beta1.Sharing{Namespaces: []string{"shop", "dev"}}
	contents.Bindings[0].Namespace, contents.Bindings[0].Spec.InstanceRef.Namespace = "dev", "shop"
	contents.Secrets[1].Namespace = "dev"
	c := newCluster(t, namespaces("brokers", "store", "dev")...)
	_, err := c.run(t.Context(), &trial{contents: contents, flags: []string{"--map", "shop=store"}})
	require.NoError(t, err)
	db, app := &v1beta1.ServiceInstance{}, &v1beta1.ServiceBinding{}
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "store", Name: "db"}, db))
	assert.Equal(t, []string{"dev", "store"}, db.Spec.Sharing.Namespaces)
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "dev", Name: "app"}, app))
	assert.Equal(t, &v1beta1.InstanceReference{Name: "db", Namespace: "store"}, app.Spec.InstanceRef)
}

// TestNames: an instance that asked for a type is called by names where its plan has another type here.
func TestNames(t *testing.T) {
	t.Parallel()
	contents := exported()
	db := contents.Instances[0]
	db.Spec.PlanReference, db.Spec.ServiceType = v1beta1.PlanReference{}, "mysql"
	c := newCluster(t, namespaces("brokers", "shop")...)
	_, err := c.run(t.Context(), &trial{contents: contents})
	require.NoError(t, err)
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "db"}, db))
	assert.Equal(t, v1beta1.PlanReference{ClusterServiceClassExternalName: "mysql-here", ClusterServicePlanExternalName: "small-here"}, db.Spec.PlanReference)
	assert.Equal(t, "mysql", db.Spec.ServiceType, "the plan has no type here, and contradicts none")
}

// TestCommandLines: what is refused before anything is read from the cluster.
func TestCommandLines(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "shop.export")
	require.NoError(t, moving.Write(file, exported(), moving.Seal{}))
	for name, c := range map[string]struct{ reason, args, want string }{
		"NoFile":       {"there is a file", "", "takes one file of svcat export"},
		"Output":       {"of two forms", file + " -o xml", `--output is "xml"; allowed are table and json`},
		"Wait":         {"more than nothing", file + " --wait 0s", "--wait is 0s"},
		"Map":          {"two names", file + " --map a", "write it as OLD=NEW"},
		"MapOfAnother": {"of the file", file + " --map instance/shop/bd=x", "--map names ServiceInstance shop/bd, which is not in the file"},
		"MapOfNone":    {"of the file", file + " --map shp=store", `--map names namespace "shp", and the file has nothing of it`},
		"SecretOfNone": {"of a broker of the file", file + " --broker-secret a/b=c/d", "--broker-secret names a/b"},
		"TwoKeys":      {"one way to open it", file + " --identity a --passphrase-file b", "exclude each other"},
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
}
