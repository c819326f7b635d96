package ui

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// A cluster answers from memory as an API server with our admission does. What a site
// must never do fails the test: any look at a Secret, and any write but a dry run unless it
// may create.
type cluster struct {
	client.Client

	t       *testing.T
	objects []*unstructured.Unstructured
	reader  client.Reader

	mutex sync.Mutex
	// denied are resources that the user may not use, as "list clusterserviceplans".
	denied []string
	// creates says that the site may create; without it only dry runs are asked for.
	creates bool
	// tried are the objects that a dry run was asked for, and created those that were to
	// be stored.
	tried, created []*unstructured.Unstructured
	// refused is what every dry run ends with.
	refused error
	// decides is another plan that admission decides on, and lost the fate of answers to creates
	// that are no dry runs.
	decides string
	lost    error
	// broken is what every read ends with.
	broken error
	// namespaces are those that can be listed; late says that their list never comes.
	namespaces []string
	late       bool
}

// readers are those of clusters that are only read, by their documents.
var readers sync.Map

// newCluster holds the objects of YAML documents, which need no apiVersion.
func newCluster(t *testing.T, documents string, denied ...string) *cluster {
	t.Helper()
	c := &cluster{t: t, denied: denied, namespaces: []string{"shop", "dev"}}
	for document := range strings.SplitSeq(documents, "\n---\n") {
		object := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(document), &object.Object))
		if object.Object == nil {
			continue
		}
		object.SetAPIVersion(v1beta1.GroupVersion.String())
		raw, err := object.MarshalJSON()
		require.NoError(t, err)
		require.NoError(t, object.UnmarshalJSON(raw))
		c.objects = append(c.objects, object)
	}
	reader, _ := readers.LoadOrStore(documents, sync.OnceValue(func() client.Reader { return c.fresh().Reader() }))
	c.reader = reader.(func() client.Reader)()
	return c
}

// fresh is a cluster in memory with all objects.
func (c *cluster) fresh() *offline.Cluster {
	held, err := offline.New(options.New())
	require.NoError(c.t, err)
	for _, object := range c.objects {
		require.NoError(c.t, held.Load(object.DeepCopy()))
	}
	return held
}

func (c *cluster) may(verb string, object any) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.broken != nil {
		return c.broken
	}
	resource := resourceOf(object)
	require.NotContains(c.t, resource, "secret", "no Secret is read")
	if !slices.Contains(c.denied, verb+" "+resource) && !slices.Contains(c.denied, "all") {
		return nil
	}
	where := `in the namespace "shop"`
	if strings.HasPrefix(resource, "cluster") || strings.HasSuffix(resource, "policies") || resource == "namespaces" {
		where = "at the cluster scope"
	}
	group := v1beta1.GroupName
	if resource == "namespaces" {
		group = ""
	}
	return apierrors.NewForbidden(schema.GroupResource{Group: group, Resource: resource}, "",
		errors.New(`User "eve" cannot `+verb+` resource "`+resource+`" in API group "`+group+`" `+where))
}

// resourceOf is the resource of an object or list.
func resourceOf(object any) string {
	if one, ok := object.(*unstructured.Unstructured); ok {
		return strings.ToLower(one.GetKind()) + "s"
	}
	name := strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", object), "*"), "List"))
	name = name[strings.LastIndex(name, ".")+1:]
	switch {
	case strings.HasSuffix(name, "class"):
		return name + "es"
	case strings.HasSuffix(name, "policy"):
		return strings.TrimSuffix(name, "y") + "ies"
	}
	return name + "s"
}

// Get reads one object.
func (c *cluster) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if err := c.may("get", object); err != nil {
		return err
	}
	return c.reader.Get(ctx, key, object, options...)
}

// List reads many.
func (c *cluster) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := c.may("list", list); err != nil {
		return err
	}
	if all, is := list.(*corev1.NamespaceList); is {
		if c.late {
			<-ctx.Done()
			return ctx.Err()
		}
		asked := &client.ListOptions{}
		asked.ApplyOptions(options)
		for _, name := range c.namespaces {
			if asked.Limit > 0 && int64(len(all.Items)) == asked.Limit {
				all.Continue = "more"
				break
			}
			all.Items = append(all.Items, corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
		return nil
	}
	return c.reader.List(ctx, list, options...)
}

// Create is a dry run, or the test fails unless the site may create.
func (c *cluster) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	asked := &client.CreateOptions{}
	asked.ApplyOptions(options)
	if !c.creates {
		require.Equal(c.t, []string{"All"}, asked.DryRun, "nothing is stored")
	}
	if err := c.may("create", object); err != nil {
		return err
	}
	one, ok := object.(*unstructured.Unstructured)
	require.True(c.t, ok)
	c.mutex.Lock()
	if len(asked.DryRun) > 0 {
		c.tried = append(c.tried, one.DeepCopy())
	} else {
		c.created = append(c.created, one.DeepCopy())
	}
	c.mutex.Unlock()
	if c.refused != nil {
		return c.refused
	}
	result, err := c.fresh().Apply(ctx, one)
	if err != nil {
		return err
	}
	for _, warning := range result.Warnings {
		heard{}.HandleWarningHeaderWithContext(ctx, miscellaneous, "", warning)
	}
	if result.Denied != nil {
		return result.Denied
	}
	one.Object = result.Object.Object
	if c.decides != "" {
		require.NoError(c.t, unstructured.SetNestedField(one.Object, c.decides, "spec", "clusterServicePlanRef", "name"))
	}
	if len(asked.DryRun) == 0 {
		return c.lost
	}
	return nil
}

// A visitor is a browser that was let in to the site of namespace shop.
type visitor struct {
	*testing.T

	cluster *cluster
	guard   *guard
	handler http.Handler
}

func visit(t *testing.T, c *cluster) *visitor {
	t.Helper()
	within := time.Minute
	if c.late {
		within = time.Millisecond
	}
	site, err := newSiteOf(c, options.New(), layout{
		namespacesWithin: within,
		namespace:        "shop", cluster: cli.Cluster{Context: "test", Flags: " --context=test"}, creates: c.creates,
		now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
	})
	require.NoError(t, err)
	guard := newGuard("127.0.0.1:8001")
	return &visitor{T: t, cluster: c, guard: guard, handler: guard.protect(site.routes())}
}

// request is one of the visitor's own, with its cookie.
func (v *visitor) request(method, path string, form url.Values) *http.Request {
	request := httptest.NewRequestWithContext(v.Context(), method, v.guard.origin()+path, strings.NewReader(form.Encode()))
	request.AddCookie(&http.Cookie{Name: v.guard.cookie, Value: v.guard.session})
	if method == http.MethodPost {
		request.Header.Set("Origin", v.guard.origin())
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return request
}

// send is the code and body of an answer.
func (v *visitor) send(request *http.Request) (code int, body string) {
	v.Helper()
	recorder := httptest.NewRecorder()
	v.handler.ServeHTTP(recorder, request)
	assertHard(v.T, recorder.Header())
	return recorder.Code, recorder.Body.String()
}

func (v *visitor) get(path string) (code int, body string) {
	v.Helper()
	return v.send(v.request(http.MethodGet, path, nil))
}

// post fills in the form of a page, and sends it.
func (v *visitor) post(path string, form url.Values) (code int, body string) {
	v.Helper()
	return v.send(v.request(http.MethodPost, path, v.fill(path, form)))
}

// assertHard asserts what every answer has.
func assertHard(t *testing.T, header http.Header) {
	t.Helper()
	assert.Equal(t, policy, header.Get("Content-Security-Policy"))
	assert.Contains(t, policy, "default-src 'none'")
	assert.NotContains(t, policy, "unsafe")
	assert.NotContains(t, policy, "http")
	assert.Equal(t, "DENY", header.Get("X-Frame-Options"))
	assert.Equal(t, "no-store", header.Get("Cache-Control"))
	assert.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
	assert.Equal(t, "same-origin", header.Get("Referrer-Policy"))
	for name := range header {
		assert.False(t, strings.HasPrefix(name, "Access-Control-"), "no other page reads this: %s", name)
	}
}
