package webhook

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
)

// What is no review is HTTP 4xx, and says what it should be, never what it is.
func TestBadRequests(t *testing.T) {
	t.Parallel()
	w := stocked(t, db).env()
	server := httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(server.Close)
	good, err := json.Marshal(w.review(instanceOf(byType), nil))
	require.NoError(t, err)
	deep := strings.Repeat(`{"a":`, 10_000) + `"` + canary + `"` + strings.Repeat(`}`, 10_000)

	cases := map[string]struct {
		reason, method, contentType string
		body                        string
		code                        int
		says                        string
	}{
		"Good":            {"The way it should be.", http.MethodPost, "application/json", string(good), 200, ""},
		"GoodCharset":     {"A charset is allowed.", http.MethodPost, "application/json; charset=utf-8", string(good), 200, ""},
		"Get":             {"Only POST.", http.MethodGet, "application/json", "", 405, "POST"},
		"Put":             {"Only POST.", http.MethodPut, "application/json", string(good), 405, "POST"},
		"NoContentType":   {"A type is needed.", http.MethodPost, "", string(good), 415, "application/json"},
		"WrongType":       {"Of JSON.", http.MethodPost, "application/yaml", string(good), 415, "application/json"},
		"BrokenType":      {"And well formed.", http.MethodPost, "application/json; =", string(good), 415, "application/json"},
		"Empty":           {"Nothing is no review.", http.MethodPost, "application/json", "", 400, "not an AdmissionReview"},
		"NoJSON":          {"Nor is this.", http.MethodPost, "application/json", canary, 400, "not an AdmissionReview"},
		"Array":           {"Nor a list.", http.MethodPost, "application/json", `["` + canary + `"]`, 400, "not an AdmissionReview"},
		"WrongTypes":      {"Nor one with other types.", http.MethodPost, "application/json", `{"request":{"uid":["` + canary + `"]}}`, 400, "not an AdmissionReview"},
		"WrongKind":       {"Nor another kind.", http.MethodPost, "application/json", `{"apiVersion":"admission.k8s.io/v1","kind":"` + canary + `"}`, 400, "not an AdmissionReview"},
		"WrongVersion":    {"Nor another version.", http.MethodPost, "application/json", strings.Replace(string(good), "admission.k8s.io/v1", "admission.k8s.io/v1beta1", 1), 400, "not an AdmissionReview"},
		"NoRequest":       {"A response is no request.", http.MethodPost, "application/json", `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`, 400, "no request"},
		"NoUID":           {"Without a uid there is no answer.", http.MethodPost, "application/json", `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{}}`, 400, "no request"},
		"LongUID":         {"It is repeated in the answer and in the log.", http.MethodPost, "application/json", `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"` + strings.Repeat("u", 129) + `"}}`, 400, "at most 128 bytes"},
		"TooLarge":        {"Nine megabytes are more than any object.", http.MethodPost, "application/json", strings.Repeat(" ", 9<<20), 413, "larger than 8388608 bytes"},
		"TooDeep":         {"Nesting of ten thousand costs no stack.", http.MethodPost, "application/json", strings.Replace(string(good), `"serviceType":"mysql"`, `"parameters":`+deep, 1), 400, "not an AdmissionReview"},
		"TrailingGarbage": {"One review is all.", http.MethodPost, "application/json", string(good) + "{}", 400, "not an AdmissionReview"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request, err := http.NewRequestWithContext(t.Context(), tc.method, server.URL+MutateInstances, strings.NewReader(tc.body))
			require.NoError(t, err)
			if tc.contentType != "" {
				request.Header.Set("Content-Type", tc.contentType)
			}
			response, err := server.Client().Do(request)
			require.NoError(t, err)
			defer func() { _ = response.Body.Close() }()
			answer, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			assert.Equal(t, tc.code, response.StatusCode, tc.reason)
			assert.Contains(t, string(answer), tc.says, tc.reason)
			assert.NotContains(t, string(answer), canary)
		})
	}
}

// A body that breaks off is the client's failure.
func TestBrokenBody(t *testing.T) {
	t.Parallel()
	w := stocked(t, db).env()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, MutateInstances, io.MultiReader(strings.NewReader(`{"a":`), brokenReader{}))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	w.serve(recorder, request)
	assert.Equal(t, http.StatusBadRequest, recorder.Code)
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// Large and deep objects that the API server lets through are refused with a field, not with a failure.
func TestLargeObjects(t *testing.T) {
	t.Parallel()
	w := stocked(t, db).env()
	for name, parameters := range map[string]string{
		"ThreeMegabytes": `{"a":"` + strings.Repeat("x", 3<<20) + `"}`,
		"ManyKeys":       `{` + strings.Repeat(`"k":1,`, 100_000) + `"z":1}`,
		"NineThousand":   strings.Repeat(`{"a":`, 9000) + `1` + strings.Repeat(`}`, 9000),
		"DeepList":       `{"a":` + strings.Repeat(`[`, 9000) + strings.Repeat(`]`, 9000) + `}`,
	} {
		o := w.create(`{"serviceType":"mysql","parameters":` + parameters + `}`)
		require.NotNil(t, o.denied(), name)
		assert.EqualValues(t, 422, o.denied().Code, name)
		assert.Equal(t, "spec.parameters", o.denied().Details.Causes[0].Field, name)
		assert.Less(t, len(o.denied().Message), 2000, name)
	}
}

// What we do not know stays where it is.
func TestUnknownFieldsAreKept(t *testing.T) {
	t.Parallel()
	w := stocked(t, db, planDefaults("db-small", `{"size":1}`)).env()
	object := []byte(`{"apiVersion":"servicecatalog.k8s.io/v1beta1","kind":"ServiceInstance","future":{"a":[1,{"b":null}]},` +
		`"metadata":{"name":"mydb","namespace":"dev","annotations":{"other":"x"},"labels":{"l":"y"},"finalizers":["other/one"],"novel":1.0},` +
		`"spec":{"serviceType":"mysql","later":{"n":9007199254740993},"parameters":{"p":1.0}},"status":{"unheard":true}}`)
	stored := w.write(object, nil).admitted()
	for pointer, want := range map[string]string{
		"/future": `{"a":[1,{"b":null}]}`, "/metadata/novel": `1.0`, "/metadata/annotations/other": `"x"`, "/metadata/labels/l": `"y"`,
		"/spec/later": `{"n":9007199254740993}`, "/spec/parameters": `{"p":1.0,"size":1}`, "/status": `{"unheard":true}`,
		"/metadata/finalizers": `["other/one","kubernetes-incubator/service-catalog"]`,
	} {
		assert.Equal(t, want, at(t, stored, pointer), pointer)
	}
}

// What a review may repeat in its answer and in the log is bounded: the kind, names and users of 7 MB that no cluster has,
// and the objects of 7 MB that no schema has judged.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	const n = 1 << 20 // four times what is allowed below
	w := stocked(t, db, hasInstance("mydb", "db-small")).env()
	huge := strings.Repeat("<", n)
	of := func(change func(*admissionv1.AdmissionRequest)) *admissionv1.AdmissionRequest {
		review := w.review(instanceOf(byType), nil)
		change(review.Request)
		return review.Request
	}
	on := func(object []byte, path string) *admissionv1.AdmissionRequest {
		kind := map[string]string{ValidateInstances: "ServiceInstance", ValidateBindings: "ServiceBinding"}[path]
		return of(func(r *admissionv1.AdmissionRequest) { r.Kind.Kind, r.Object.Raw = kind, object })
	}
	for name, tc := range map[string]struct {
		path    string
		request *admissionv1.AdmissionRequest
		code    int
	}{
		"Group":     {MutateInstances, of(func(r *admissionv1.AdmissionRequest) { r.Kind.Group = huge }), 400},
		"Version":   {MutateInstances, of(func(r *admissionv1.AdmissionRequest) { r.Kind.Version = huge }), 400},
		"Kind":      {MutateInstances, of(func(r *admissionv1.AdmissionRequest) { r.Kind.Kind = huge }), 400},
		"Resource":  {MutateInstances, of(func(r *admissionv1.AdmissionRequest) { r.Resource.Resource = huge }), 400},
		"Name":      {MutateInstances, of(func(r *admissionv1.AdmissionRequest) { r.Name = huge }), 400},
		"Namespace": {MutateInstances, of(func(r *admissionv1.AdmissionRequest) { r.Namespace = huge }), 400},
		"Operation": {MutateInstances, of(func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Operation(huge) }), 400},
		"User":      {MutateInstances, of(func(r *admissionv1.AdmissionRequest) { r.UserInfo.Username = huge }), 400},
		"UserUID":   {MutateInstances, of(func(r *admissionv1.AdmissionRequest) { r.UserInfo.UID = huge }), 400},
		"Groups":    {MutateInstances, of(func(r *admissionv1.AdmissionRequest) { r.UserInfo.Groups = []string{huge} }), 400},
		"Extra": {MutateInstances, of(func(r *admissionv1.AdmissionRequest) {
			r.UserInfo.Extra = map[string]authenticationv1.ExtraValue{"a": {huge}}
		}), 400},
		"LongUser": {MutateInstances, of(func(r *admissionv1.AdmissionRequest) { r.UserInfo.Username = huge[:1024] }), 200},
		"ManyGroups": {MutateInstances, of(func(r *admissionv1.AdmissionRequest) {
			r.UserInfo.Groups = slices.Repeat([]string{huge[:100]}, 1000)
		}), 200},
		"Sources":    {ValidateInstances, on([]byte(`{"spec":{"parametersFrom":[{}`+strings.Repeat(`,{}`, n/3-1)+`]}}`), ValidateInstances), 200},
		"Transforms": {ValidateBindings, on([]byte(`{"spec":{"secretTransforms":[{"addKeysFrom":{"secretRef":{"namespace":"x","name":"`+huge+`"}}}]}}`), ValidateBindings), 200},
	} {
		var body bytes.Buffer
		encoder := json.NewEncoder(&body)
		encoder.SetEscapeHTML(false) // as the API server does not send it, and others may
		require.NoError(t, encoder.Encode(admissionv1.AdmissionReview{TypeMeta: w.review(nil, nil).TypeMeta, Request: tc.request}))
		require.Less(t, body.Len(), 8<<20, "%s: it is no longer than an endpoint reads", name)
		answer := w.post(tc.path, body.Bytes())
		require.Equal(t, tc.code, answer.Code, name)
		assert.Less(t, answer.Body.Len(), 256<<10, name)
		assert.Less(t, len(w.log()), 4<<10, name)
	}
}

// What is repeated is not made longer by escapes that are for HTML.
func TestAnswersAreNotEscaped(t *testing.T) {
	t.Parallel()
	w := stocked(t, db).env()
	w.kind = "<&>"
	body, err := json.Marshal(w.review(instanceOf(byType), nil))
	require.NoError(t, err)
	assert.Contains(t, w.post(MutateInstances, body).Body.String(), "<&>")
}

// Operations and subresources that the hooks are not registered for are none of our business.
func TestOtherRequestsPass(t *testing.T) {
	t.Parallel()
	w := stocked(t, db).env()
	for name, change := range map[string]func(*admissionv1.AdmissionRequest){
		"Delete":  func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Delete },
		"Connect": func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Connect },
		"Status":  func(r *admissionv1.AdmissionRequest) { r.SubResource = "status" },
	} {
		for _, path := range []string{MutateInstances, ValidateInstances} {
			review := w.review(instanceOf(`{"serviceType":7}`), nil)
			change(review.Request)
			body, err := json.Marshal(review)
			require.NoError(t, err)
			var answer admissionv1.AdmissionReview
			require.NoError(t, json.NewDecoder(bytes.NewReader(w.post(path, body).Body.Bytes())).Decode(&answer), name)
			assert.True(t, answer.Response.Allowed, name)
			assert.Empty(t, answer.Response.Patch, name)
		}
	}
}
