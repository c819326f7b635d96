package webhook

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// An adoptCase is a write by alice of instance mydb or binding creds in namespace dev.
type adoptCase struct {
	reason string
	// spec is that of the new object, or what bob stored, and write a merge patch over that.
	spec, write string
	// meta is the metadata, if it is not the usual one.
	meta string
	// others are objects of the kind that there are, as namespace/name=id, with =id after it for the one in force.
	others  []string
	granted []string
	// asked are the rights that were asked for.
	asked    []string
	denied   string
	says     []string
	nameless bool
}

const (
	mayAdopt = "alice adopt KINDs dev/NAME"
	mySpec   = `{BASE,"externalID":"e-1"}`
)

func adoptCases() map[string]adoptCase {
	unknown := []string{"alice adopt KINDs dev/NAME"}
	all := map[string]adoptCase{
		"Minted":        {reason: "Who leaves it out is not asked.", spec: `{BASE}`, others: []string{"dev/other=e-1"}},
		"Empty":         {reason: "As old clients send it.", spec: `{BASE,"externalID":""}`},
		"Chosen":        {reason: "Attack: another's database by its ID.", spec: mySpec, asked: unknown, denied: "AdoptForbidden", says: []string{"spec.externalID: ", "adopt", `"alice"`, `"dev"`, "leave it out", "kubectl create rolebinding"}},
		"Allowed":       {reason: "It is a right.", spec: mySpec, granted: unknown, asked: unknown},
		"ElsewhereOnly": {reason: "Permission is per namespace.", spec: mySpec, granted: []string{"alice adopt KINDs prod/NAME"}, asked: unknown, denied: "AdoptForbidden"},
		"ForgedMarker": {
			reason: "Attack: the ID is said to be a minted one.", spec: mySpec, asked: unknown, denied: "AdoptForbidden",
			meta: `{"name":"NAME","namespace":"dev","annotations":{"` + v1beta1.AnnotationMintedExternalID + `":"e-1"}}`,
		},
		"Generated":     {reason: "Before there is a name, the right must be to all.", spec: mySpec, nameless: true, granted: unknown, asked: []string{"alice adopt KINDs dev/"}, denied: "AdoptForbidden"},
		"UpdatedAlone":  {reason: "What is stored is not asked for again.", spec: mySpec, write: `{"spec":{"parameters":{"a":1}}}`},
		"SetLater":      {reason: "Nor is it chosen later for free.", spec: `{BASE}`, write: `{"spec":{"externalID":"e-1"},"metadata":{"annotations":{"` + v1beta1.AnnotationMintedExternalID + `":"e-1"}}}`, asked: unknown, denied: "AdoptForbidden"},
		"SetLaterGiven": {reason: "But by right.", spec: `{BASE}`, write: `{"spec":{"externalID":"e-1"}}`, granted: unknown, asked: unknown},
	}
	maps.Copy(all, duplicateCases(unknown))
	return all
}

// duplicateCases: an ID that another object has.
func duplicateCases(right []string) map[string]adoptCase {
	see := func(name string) string { return "alice get KINDs " + name }
	return map[string]adoptCase{
		"Duplicate":        {reason: "Of another namespace, which is not told to who may not see it.", spec: mySpec, others: []string{"prod/other=e-1"}, granted: right, asked: append(right, see("prod/other")), denied: "DuplicateID", says: []string{"in use by another"}},
		"DuplicateSeen":    {reason: "It is named to who may.", spec: mySpec, others: []string{"prod/other=e-1"}, granted: append(right, see("prod/other")), asked: append(right, see("prod/other")), denied: "DuplicateID", says: []string{`"prod/other"`, v1beta1.AnnotationAbandon + "=true"}},
		"DuplicateInForce": {reason: "An ID in force counts like that of spec.", spec: mySpec, others: []string{"prod/other=e-0=e-1"}, granted: right, asked: append(right, see("prod/other")), denied: "DuplicateID"},
		"DuplicateAside":   {reason: "The same name elsewhere is another.", spec: mySpec, others: []string{"prod/NAME=e-1"}, granted: right, asked: append(right, see("prod/NAME")), denied: "DuplicateID"},
		"DuplicateNoRight": {reason: "Who may not adopt is not told what there is.", spec: mySpec, others: []string{"prod/other=e-1"}, asked: right, denied: "AdoptForbidden"},
		"Again":            {reason: "A create that is sent twice is no duplicate.", spec: mySpec, others: []string{"dev/NAME=e-1"}, granted: right, asked: right},
		"AgainBeside":      {reason: "But it hides none.", spec: mySpec, others: []string{"dev/NAME=e-1", "prod/other=e-1"}, granted: right, asked: append(right, see("prod/other")), denied: "DuplicateID"},
		"OtherID":          {reason: "Other IDs are others'.", spec: mySpec, others: []string{"prod/other=e-2", "prod/third=e-10=e-11"}, granted: right, asked: right},
		"DuplicateBackup":  {reason: "A backup beside its original.", spec: `{BASE,"externalID":"e-1",` + bindRefs + `}`, others: []string{"prod/other=e-1"}, granted: right, asked: append(right, see("prod/other")), denied: "DuplicateID", says: []string{"and the references"}},
		"Backup":           {reason: "A backup is adopted by right.", spec: `{BASE,"externalID":"e-1",` + bindRefs + `}`, granted: right, asked: right},
		"BackupForbidden":  {reason: "And by none else.", spec: `{BASE,"externalID":"e-1",` + bindRefs + `}`, asked: right, denied: "AdoptForbidden", says: []string{"and the references"}},
	}
}

// adoptKinds are the kinds that have an ID at a broker: the words of a case, and what stands in their place.
var adoptKinds = map[string]*strings.Replacer{
	"ServiceInstance": strings.NewReplacer("KIND", "serviceinstance", "NAME", "mydb", "BASE", `"serviceType":"mysql"`),
	"ServiceBinding":  strings.NewReplacer("KIND", "servicebinding", "NAME", "creds", "BASE", `"instanceRef":{"name":"source"}`),
}

// having is an object with an ID.
func having(kind, text string) client.Object {
	name, ids, _ := strings.Cut(text, "=")
	id, inForce, _ := strings.Cut(ids, "=")
	meta := metav1.ObjectMeta{}
	meta.Namespace, meta.Name, _ = strings.Cut(name, "/")
	if kind == "ServiceBinding" {
		binding := &v1beta1.ServiceBinding{ObjectMeta: meta, Spec: v1beta1.ServiceBindingSpec{ExternalID: id, SecretName: "secret-of-" + meta.Name}}
		binding.Status.ExternalID = inForce
		return binding
	}
	instance := &v1beta1.ServiceInstance{ObjectMeta: meta, Spec: v1beta1.ServiceInstanceSpec{ExternalID: id}}
	instance.Status.ExternalID = inForce
	return instance
}

// run writes, and says what became of it and what was asked.
func (tc adoptCase) run(t *testing.T, kind string) (*outcome, []string) {
	t.Helper()
	words := adoptKinds[kind]
	w := stocked(t, db, hasInstance("source", "db-small"), func(s *stock) {
		for _, other := range tc.others {
			s.objects = append(s.objects, having(kind, words.Replace(other)))
		}
	}).env()
	for _, right := range tc.granted {
		w.reviews.granted = append(w.reviews.granted, words.Replace(right))
	}
	object := fmt.Appendf(nil, `{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":%q,"metadata":%s,"spec":%s}`, kind,
		words.Replace(cmp.Or(tc.meta, `{"name":"NAME","namespace":"dev"}`)), words.Replace(tc.spec))
	var old []byte
	if tc.write != "" {
		old, object = object, changed(t, object, tc.write)
	}
	w.nameless, w.reviews.adopting = tc.nameless, false
	o := w.write(object, old)
	return o, w.reviews.taken()
}

func TestAdopt(t *testing.T) {
	t.Parallel()
	for kind, words := range adoptKinds {
		for name, tc := range adoptCases() {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				o, asked := tc.run(t, kind)
				var want []string
				for _, right := range tc.asked {
					want = append(want, words.Replace(right))
				}
				assert.Equal(t, want, asked, tc.reason)
				if tc.denied == "" {
					o.admitted()
					return
				}
				require.NotNil(t, o.denied(), tc.reason)
				assert.Equal(t, tc.denied, o.validate.outcome, tc.reason)
				assert.Equal(t, "spec.externalID", o.denied().Details.Causes[0].Field)
				for _, text := range tc.says {
					assert.Contains(t, o.denied().Message, text, tc.reason)
				}
				if !strings.Contains(fmt.Sprint(tc.granted), " get ") {
					assert.NotContains(t, o.denied().Message, "prod", "what someone may not see is not told")
				}
			})
		}
	}
}

// A right that cannot be asked for, and a list that fails, are failures of ours, never a yes.
func TestAdoptionFails(t *testing.T) {
	t.Parallel()
	down := errors.New("the API server is down")
	for kind, words := range adoptKinds {
		object := fmt.Appendf(nil, `{"kind":%q,"metadata":{"name":"x","namespace":"dev"},"spec":%s}`, kind, words.Replace(mySpec))
		for name, adjust := range map[string]func(*env){
			"Review": func(w *env) { w.reviews.adopting, w.reviews.down = false, down },
			"List": func(w *env) {
				w.live.fail(func(read string) error {
					if strings.HasPrefix(read, "list "+kind+"List ") {
						return down
					}
					return nil
				})
			},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := stocked(t, db, hasInstance("source", "db-small")).env()
				adjust(w)
				path := "/validate/" + words.Replace("KIND") + "s"
				body, err := json.Marshal(w.review(object, nil))
				require.NoError(t, err)
				assert.Equal(t, http.StatusInternalServerError, w.post(path, body).Code)
			})
		}
	}
}

const goldenAdoptDenials = "testdata/denials_adopt.golden"

// Every refusal of an ID, as people read it.
func TestAdoptDenials(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	cases := adoptCases()
	for _, kind := range slices.Sorted(maps.Keys(adoptKinds)) {
		for _, name := range slices.Sorted(maps.Keys(cases)) {
			if tc := cases[name]; tc.denied != "" {
				o, _ := tc.run(t, kind)
				require.NotNil(t, o.denied(), name)
				text.WriteString(o.render(kind + name))
			}
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(goldenAdoptDenials, []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile(goldenAdoptDenials)
	require.NoError(t, err)
	assert.Equal(t, string(want), text.String(), "run the test with -update and read the difference")
}
