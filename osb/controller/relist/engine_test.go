package relist

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb"
)

// Every real catalog is taken over whole, in both scopes, and the second time writes
// nothing.
func TestRealCatalogs(t *testing.T) {
	catalogs := sharedCatalogs(t)
	for i, name := range slices.Sorted(maps.Keys(catalogs)) {
		catalog := catalogs[name]
		for scope, namespaced := range map[string]bool{"cluster": false, "namespace": true} {
			if namespaced && testing.Short() && i%8 != 0 {
				continue
			}
			t.Run(name+"-"+scope, func(t *testing.T) {
				w := newWorld(t, namespaced)
				w.broker.NameSuffix = scope // real catalogs share IDs with each other
				first, writes := w.relist(catalog)
				require.NoError(t, first.Err())
				assert.Empty(t, first.Skipped)
				assert.Equal(t, len(catalog.Services), first.Classes)
				assert.Equal(t, first.Writes, writes)
				assert.GreaterOrEqual(t, writes, first.Classes+first.Plans)
				second, writes := w.relist(catalog)
				require.NoError(t, second.Err())
				assert.Zero(t, writes, "an unchanged catalog writes nothing")
				assert.Equal(t, first.Plans, second.Plans)
				gone, _ := w.relist(&osb.Catalog{})
				assert.Equal(t, first.Classes+first.Plans, gone.Removed)
				remaining, _, err := w.engine.Sweep(t.Context(), w.broker, noted)
				require.NoError(t, err)
				assert.Zero(t, remaining)
			})
		}
	}
}

// All that a catalog says and suggests is there after one relist, and the next writes
// nothing.
func TestRelistWritesAll(t *testing.T) {
	bothScopes(t, func(t *testing.T, w *world) {
		result, writes := w.relist(w.catalog(mysql))
		require.NoError(t, result.Err())
		require.Empty(t, result.Skipped)
		assert.Equal(t, 3*2+1+1, writes, "facts and suggestions of each, the class whole at first, and its counts")
		class, small, large := w.class("db"), w.plan("s"), w.plan("l")
		assert.Equal(t, w.broker.kind()+" "+w.broker.Name, class.controller())
		assert.Equal(t, class.externalName, small.GetAnnotations()[api.AnnotationClassName], "the plan's class in words")
		assert.NotContains(t, class.GetAnnotations(), api.AnnotationClassName)
		owner := metav1.GetControllerOf(small)
		assert.Equal(t, w.broker.UID, owner.UID)
		assert.False(t, *owner.BlockOwnerDeletion)
		assert.Equal(t, []any{w.prefix + "sql", w.prefix + "sql", w.prefix + "sql"}, []any{class.serviceType, small.serviceType, large.serviceType})
		assert.Equal(t, []int32{1, 1}, []int32{class.freePlans, class.paidPlans})
		assert.Equal(t, "8.0", class.GetLabels()["attributes.servicecatalog.k8s.io/Engine"])
		assert.Equal(t, "2", small.GetLabels()["attributes.servicecatalog.k8s.io/Cores"])
		assert.Equal(t, "not a label", small.GetAnnotations()["attributes.servicecatalog.k8s.io/Note"])
		assert.Equal(t, "true", small.GetAnnotations()[api.AnnotationSuggestedPlan])
		assert.Empty(t, large.GetAnnotations()[api.AnnotationSuggestedPlan])
		assert.JSONEq(t, `{"region":"eu","n":1,"none":null}`, string(class.defaults.DefaultProvisionParameters.Raw))
		assert.JSONEq(t, `{"role":"reader"}`, string(large.defaults.DefaultBindParameters.Raw))
		assert.Equal(t, "username", class.defaults.DefaultSecretTransforms[0].RenameKey.To)
		assert.NotEmpty(t, class.GetLabels()[api.LabelExternalID], "admission saw it")
		for range 2 {
			_, writes = w.relist(w.catalog(mysql))
			assert.Zero(t, writes)
		}
	})
}

// A suggestion that a catalog has no more is gone, a new one is there, a changed one
// changes; nothing else is written.
func TestSuggestionsComeAndGo(t *testing.T) {
	bothScopes(t, func(t *testing.T, w *world) {
		w.relist(w.catalog(mysql))
		_, writes := w.relist(w.catalog(mysql, `"SuggestedPlan=small"`, `"SuggestedPlan=large"`))
		assert.Equal(t, 3, writes, "the class's tags are a fact, and both plans change")
		assert.Empty(t, w.plan("s").GetAnnotations()[api.AnnotationSuggestedPlan])
		assert.Equal(t, "true", w.plan("l").GetAnnotations()[api.AnnotationSuggestedPlan])
		_, writes = w.relist(w.catalog(mysql, `"SuggestedPlan=small"`, `"SuggestedPlan=large"`, `"role":"reader"`, `"role":"writer"`, "Cores=4", "Cores=8"))
		assert.Equal(t, 2, writes, "the metadata is a fact, its default a suggestion")
		assert.JSONEq(t, `{"role":"writer"}`, string(w.plan("l").defaults.DefaultBindParameters.Raw))
		assert.Equal(t, "8", w.plan("l").GetLabels()["attributes.servicecatalog.k8s.io/Cores"])
		w.relist(w.catalog(mysql))
		w.relist(w.catalog(mysql, `"tags":["sql","ServiceType=@sql","SuggestedPlan=small","Engine=8.0"],`, ""))
		class, small := w.class("db"), w.plan("s")
		assert.Empty(t, class.serviceType+small.serviceType)
		assert.Empty(t, class.GetLabels()["attributes.servicecatalog.k8s.io/Engine"])
		assert.Equal(t, "2", small.GetLabels()["attributes.servicecatalog.k8s.io/Cores"], "what is suggested still stays")
	})
}

// A hint of a wrong type takes back nothing that was suggested before, and hides nothing that is said beside it.
func TestUnreadableHintsKeepWhatTheySuggested(t *testing.T) {
	const engine, cores = api.LabelAttributePrefix + "Engine", api.LabelAttributePrefix + "Cores"
	serviceTags, serviceMetadata := `"tags":["sql","ServiceType=@sql","SuggestedPlan=small","Engine=8.0"],`, `"metadata":{"displayName":"MySQL","defaultProvisionParameters":{"region":"eu","n":1.0,"none":null},
		"defaultSecretTransforms":[{"renameKey":{"from":"user","to":"username"}}]},`
	planTags, planMetadata := `"tags":["Cores=4"]`, `"metadata":{"defaultBindParameters":{"role":"reader"}}`
	small := `"metadata":{"tags":["Cores=2","Note=not a label"]}`
	bothScopes(t, func(t *testing.T, w *world) {
		whole := func() {
			class, s, l := w.class("db"), w.plan("s"), w.plan("l")
			assert.Equal(t, []string{w.prefix + "sql", w.prefix + "sql", w.prefix + "sql"}, []string{class.serviceType, s.serviceType, l.serviceType})
			assert.Equal(t, []string{"true", ""}, []string{s.GetAnnotations()[api.AnnotationSuggestedPlan], l.GetAnnotations()[api.AnnotationSuggestedPlan]})
			assert.Equal(t, []string{"8.0", "2", "4"}, []string{class.GetLabels()[engine], s.GetLabels()[cores], l.GetLabels()[cores]})
			assert.Len(t, class.defaults.DefaultSecretTransforms, 1)
			assert.NotNil(t, class.defaults.DefaultProvisionParameters)
			assert.JSONEq(t, `{"role":"reader"}`, string(l.defaults.DefaultBindParameters.Raw))
		}
		w.relist(w.catalog(mysql, serviceMetadata, `"metadata":[],`))
		assert.Equal(t, w.prefix+"sql", w.plan("l").serviceType, "a new plan gets what is said beside it")
		w.relist(w.catalog(mysql))
		whole()
		for hint, broken := range map[string]string{
			serviceTags: `"tags":"sql",`, serviceMetadata: `"metadata":[],`, planTags: `"tags":{}`, planMetadata: `"metadata":"x"`, small: `"metadata":"x"`,
		} {
			w.relist(w.catalog(mysql, hint, broken))
			whole()
			_, writes := w.relist(w.catalog(mysql, hint, broken))
			assert.Zero(t, writes, broken)
		}
		w.relist(w.catalog(mysql, small, `"metadata":"x"`, "SuggestedPlan=small", "SuggestedPlan=large"))
		assert.Empty(t, w.plan("s").GetAnnotations()[api.AnnotationSuggestedPlan], "what is said elsewhere counts")
		assert.Equal(t, "2", w.plan("s").GetLabels()[cores])
		w.relist(w.catalog(mysql, small, `"metadata":{}`))
		assert.Empty(t, w.plan("s").GetLabels()[cores])
	})
}

// A plan follows its class's name at the broker.
func TestClassIsRenamed(t *testing.T) {
	bothScopes(t, func(t *testing.T, w *world) {
		w.relist(w.catalog(mysql))
		renamed := strings.Replace(mysql, "@mysql", "@mariadb", 1)
		_, writes := w.relist(w.catalog(renamed))
		assert.Equal(t, 3, writes, "the class and its two plans")
		assert.Equal(t, w.class("db").externalName, w.plan("l").GetAnnotations()[api.AnnotationClassName])
		_, writes = w.relist(w.catalog(renamed))
		assert.Zero(t, writes)
	})
}

// A fact that anyone overwrote or took away is put right, though the catalog is the
// same, by one write.
func TestFactsAreRepaired(t *testing.T) {
	bothScopes(t, func(t *testing.T, w *world) {
		w.relist(w.catalog(mysql))
		for name, damage := range map[string]string{
			"Changed": `{"spec":{"description":"Mine."}}`, "Removed": `{"spec":{"description":null}}`, "Hash": `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/catalog-hash":"x"}}}`,
			"ClassName": `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/class-name":"x"}}}`, "Older": `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/class-name":null}}}`,
			"HashRemoved": `{"metadata":{"annotations":{"servicecatalog.kubernetes.io/catalog-hash":null}}}`, "Free": `{"spec":{"free":false}}`, "Orphaned": `{"metadata":{"ownerReferences":null}}`,
		} {
			w.edit(w.plan("s"), damage)
			_, writes := w.relist(w.catalog(mysql))
			assert.Equal(t, 1, writes, name)
			_, writes = w.relist(w.catalog(mysql))
			assert.Zero(t, writes, name)
		}
		small := w.plan("s")
		assert.NotEmpty(t, small.controller())
		w.edit(small, `{"spec":{"instanceCreateParameterSchema":{"type":"object"}}}`)
		_, writes := w.relist(w.catalog(mysql))
		assert.Zero(t, writes, "what the catalog says nothing of is not a fact of it")
	})
}

// Whatever a broker writes is stored as it wrote it.
func TestStrangeText(t *testing.T) {
	w := newWorld(t, false)
	strange := `a \"b\" \\ \u0000 \u007f \u0085 \u009f \u2028 \ufeff \ufffe \ufffd \ud83d\ude00 é <b>&amp; # : - {x} [y] *z !t %`
	catalog := w.catalog(`{"services":[{"id":"@ID Z.9-/","name":"My Service ☃","description":"` + strange + `","tags":["` + strange + `"],
		"metadata":{"` + strange + `":[1,1.0,1.5,1e21,9007199254740993,12345678901234567890,-0.0,null,true,{"<<":"x","y":"yes","n":"0x10","t":"2001-01-01","":{}}]},
		"plans":[{"id":"@P","name":"Plan Ü","description":"` + strange + `","schemas":{"service_instance":{"create":{"parameters":{"$schema":"` + strange + `","default":null}}}}}]}]}`)
	result, _ := w.relist(catalog)
	require.NoError(t, result.Err())
	require.Empty(t, result.Skipped)
	class := &api.ClusterServiceClass{}
	get(w, class, w.prefix+"ID Z.9-/")
	assert.Equal(t, catalog.Services[0].Description, class.Spec.Description)
	assert.Equal(t, catalog.Services[0].Tags, class.Spec.Tags)
	value, err := decode(catalog.Services[0].Metadata)
	require.NoError(t, err)
	stored, err := decode(class.Spec.ExternalMetadata.Raw)
	require.NoError(t, err)
	assert.Equal(t, string(applied(value)), string(applied(stored)))
	_, writes := w.relist(catalog)
	assert.Zero(t, writes)
}
