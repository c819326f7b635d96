package ui

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

var (
	manifestOf = regexp.MustCompile(`name="manifest" value="([^"]*)"`)
	givenIn    = regexp.MustCompile(`name="given" value="([0-9a-f]+)"`)
	markOf     = regexp.MustCompile(`name="mark" value="([0-9a-f]+)"`)
)

const (
	smallPlan   = "/plans/cluster/small"
	createSmall = smallPlan + "/create"
)

// buyer is a visitor of a site that may create.
func buyer(t *testing.T, denied ...string) *visitor {
	t.Helper()
	c := newCluster(t, shop, denied...)
	c.creates = true
	return visit(t, c)
}

// ordered is what the button sends after a dry run of a form.
func (v *visitor) ordered(form url.Values) url.Values {
	v.Helper()
	code, body := v.post(smallPlan, form)
	require.Equal(v, http.StatusOK, code)
	manifest, given, mark := manifestOf.FindStringSubmatch(body), givenIn.FindStringSubmatch(body), markOf.FindStringSubmatch(body)
	require.NotNil(v, manifest, body)
	require.NotNil(v, given, body)
	require.NotNil(v, mark, body)
	return url.Values{"manifest": {html.UnescapeString(manifest[1])}, "given": {given[1]}, "mark": {mark[1]}}
}

// TestCreate: what the dry run has shown is created, and the instance's page comes next.
func TestCreate(t *testing.T) {
	t.Parallel()
	v := buyer(t)
	order := v.ordered(url.Values{"name": {"db2"}, "how": {"type"}, "p/size": {"5"}, "more": {`{"note": "a<b>\n& c"}`}})
	require.Empty(t, v.cluster.created, "a dry run stores nothing")
	code, _ := v.send(v.request(http.MethodPost, createSmall, order))
	assert.Equal(t, http.StatusSeeOther, code)
	require.Len(t, v.cluster.created, 1)
	assert.Equal(t, v.cluster.tried[0].Object, v.cluster.created[0].Object, "nothing but what was tried")

	_, body := v.get(smallPlan)
	assert.Contains(t, body, "Only the button “Create” stores something")
}

// TestDefaultChangesMeanwhile: another plan than that of the dry run is not created unseen.
func TestDefaultChangesMeanwhile(t *testing.T) {
	t.Parallel()
	v := buyer(t)
	order := v.ordered(url.Values{"name": {"db2"}, "how": {"type"}, "p/size": {"5"}})
	v.cluster.decides = "large"
	code, body := v.send(v.request(http.MethodPost, createSmall, order))
	assert.Equal(t, http.StatusConflict, code)
	assert.Contains(t, body, "The default, the plan or its parameters have changed since the dry run: try it again.")
	assert.Empty(t, v.cluster.created)
}

// TestNoButtonForSecrets: what could use the page cannot send a Secret to a broker.
func TestNoButtonForSecrets(t *testing.T) {
	t.Parallel()
	code, body := buyer(t).post(smallPlan, url.Values{"name": {"db2"}, "how": {"type"}, "p/size": {"5"}, "secret": {"mine"}, "key": {"parameters"}})
	assert.Equal(t, http.StatusOK, code)
	assert.Contains(t, body, "There is no button to create it, because parameters come from a Secret")
	assert.NotContains(t, body, `name="mark"`)
}

// TestAnswerThatDoesNotCome: an instance may have been created although no answer came.
func TestAnswerThatDoesNotCome(t *testing.T) {
	t.Parallel()
	v := buyer(t)
	order := v.ordered(url.Values{"name": {"db2"}, "how": {"type"}, "p/size": {"5"}})
	v.cluster.lost = context.DeadlineExceeded
	code, body := v.send(v.request(http.MethodPost, createSmall, order))
	assert.Equal(t, http.StatusBadGateway, code)
	assert.Contains(t, body, "It is not known whether it was created")
}

// TestCreateIsRefused: what the API server refuses after the dry run is told as it is there, and
// nothing is created.
func TestCreateIsRefused(t *testing.T) {
	t.Parallel()
	v := buyer(t)
	order := v.ordered(url.Values{"name": {"db2"}, "how": {"type"}, "p/size": {"5"}})
	v.cluster.refused = admission("the quota is used up\n  → delete an instance")
	code, body := v.send(v.request(http.MethodPost, createSmall, order))
	assert.Equal(t, http.StatusOK, code)
	for _, text := range []string{"It was refused", "Nothing was created.", "the quota is used up", "→ delete an instance", "size: 5", `value="db2"`} {
		assert.Contains(t, body, text)
	}
	assert.NotContains(t, body, `name="mark"`)

	v.cluster.refused = apierrors.NewAlreadyExists(schema.ParseGroupResource(ofInstances), "db2")
	_, body = v.send(v.request(http.MethodPost, createSmall, order))
	assert.Contains(t, body, `id="instance-name-problem">An instance of this name exists already: choose another name.`, "at its field")

	v.cluster.refused, v.cluster.denied = nil, []string{"create serviceinstances"}
	_, body = v.send(v.request(http.MethodPost, createSmall, order))
	assert.Contains(t, body, "You may not create serviceinstances in namespace shop")
	assert.Contains(t, body, "--clusterrole=servicecatalog-edit")
	assert.NotContains(t, body, "not even as a dry run")
}

// TestNothingIsCreatedUnseen: no request creates anything but what a dry run of this process
// has shown to the browser that was let in.
func TestNothingIsCreatedUnseen(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		order  func(url.Values)
		change func(*http.Request)
		code   int
	}{
		"OtherName":  {reason: "another manifest", order: func(o url.Values) { o.Set("manifest", strings.Replace(o.Get("manifest"), "db2", "db3", 1)) }, code: http.StatusConflict},
		"OtherKind":  {reason: "no instance", order: func(o url.Values) { o.Set("manifest", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}`) }, code: http.StatusConflict},
		"OtherMark":  {reason: "the mark of another process", order: func(o url.Values) { o.Set("mark", newSeal().mark(o.Get("manifest"), o.Get("given"))) }, code: http.StatusConflict},
		"OtherSum":   {reason: "another plan than that of the dry run", order: func(o url.Values) { o.Set("given", strings.Repeat("0", 64)) }, code: http.StatusConflict},
		"NoMark":     {reason: "no mark", order: func(o url.Values) { o.Del("mark") }, code: http.StatusConflict},
		"Nothing":    {reason: "an empty form", order: func(o url.Values) { clear(o) }, code: http.StatusConflict},
		"Get":        {reason: "a link creates nothing", change: func(r *http.Request) { r.Method = http.MethodGet }, code: http.StatusNotFound},
		"NoCookie":   {reason: "another user of this machine", change: func(r *http.Request) { r.Header.Del("Cookie") }, code: http.StatusForbidden},
		"Rebinding":  {reason: "a name that resolves to the loopback", change: host("evil.example:8001"), code: http.StatusMisdirectedRequest},
		"Origin":     {reason: "a form of another page", change: set("Origin", "https://evil.example"), code: http.StatusForbidden},
		"NoOrigin":   {reason: "browsers always say one", change: func(r *http.Request) { r.Header.Del("Origin") }, code: http.StatusForbidden},
		"NullOrigin": {reason: "a page without one", change: set("Origin", "null"), code: http.StatusForbidden},
		"OtherPort":  {reason: "another server of this machine", change: set("Sec-Fetch-Site", "same-site"), code: http.StatusForbidden},
		"CrossSite":  {reason: "a page of another site", change: set("Sec-Fetch-Site", "cross-site"), code: http.StatusForbidden},
		"JSON":       {reason: "only forms", change: set("Content-Type", "application/json"), code: http.StatusUnsupportedMediaType},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := buyer(t)
			order := v.ordered(url.Values{"name": {"db2"}, "how": {"type"}, "p/size": {"5"}})
			if tc.order != nil {
				tc.order(order)
			}
			request := v.request(http.MethodPost, createSmall, order)
			if tc.change != nil {
				tc.change(request)
			}
			code, _ := v.send(request)
			assert.Equal(t, tc.code, code, tc.reason)
			assert.Empty(t, v.cluster.created, tc.reason)
		})
	}
}

// TestProgress: an instance that is on its way tells how far it is; one that is ready, has
// failed or is being deleted has arrived.
func TestProgress(t *testing.T) {
	t.Parallel()
	decided := v1beta1.ServiceInstanceSpec{DecidedReference: v1beta1.DecidedReference{ClusterServicePlanRef: &v1beta1.ClusterObjectReference{Name: "small"}}}
	for name, tc := range map[string]struct {
		reason   string
		instance v1beta1.ServiceInstance
		look     string
		want     []progressStep
	}{
		"Waits": {
			reason: "no plan is decided", look: waiting,
			want: []progressStep{{"Created", "done"}, {"Plan decided", "waiting"}, {"Requested from its broker", "to come"}, {"Ready", "to come"}},
		},
		"Decided": {
			reason: "no controller has seen it", look: waiting, instance: v1beta1.ServiceInstance{Spec: decided},
			want: []progressStep{{"Created", "done"}, {"Plan decided", "done"}, {"Requested from its broker", "waiting"}, {"Ready", "to come"}},
		},
		"Requested": {
			reason: "its broker is at work", look: waiting,
			instance: v1beta1.ServiceInstance{Spec: decided, Status: v1beta1.ServiceInstanceStatus{InProgressProperties: &v1beta1.ServiceInstancePropertiesState{}}},
			want:     []progressStep{{"Created", "done"}, {"Plan decided", "done"}, {"Requested from its broker", "done"}, {"Ready", "waiting"}},
		},
		"Ready":   {reason: "it is there", look: "good"},
		"Failed":  {reason: "it will never be", look: "bad"},
		"Deleted": {reason: "it is on its way out", look: waiting, instance: v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{Time: time.Unix(1, 0)}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, progressOf(&tc.instance, tc.look), tc.reason)
		})
	}
	_, body := visit(t, newCluster(t, claims)).get("/instances/blog-0a1b2c3d")
	for _, text := range []string{"data-pending", "It is not ready yet.", `Requested from its broker <span class="chip waiting">`, `<a href="/instances/blog-0a1b2c3d">Refresh</a>`} {
		assert.Contains(t, body, text)
	}
	_, body = visit(t, newCluster(t, claims)).get("/instances/db")
	assert.NotContains(t, body, "data-pending", "it is ready")
}
