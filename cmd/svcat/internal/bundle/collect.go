package bundle

import (
	"context"
	"errors"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/internal/version"
)

// A Collector collects what an archive has.
type Collector struct {
	Reader client.Reader
	// Proxy opens a path of a process through the API server.
	Proxy func(ctx context.Context, path string) (io.ReadCloser, error)
	// ServerVersion is that of the API server.
	ServerVersion func(ctx context.Context) (string, error)
	// System is the namespace of the webhook and the controller; Namespace is the one that is
	// read by a user who may not read all.
	System, Namespace string
	Now               time.Time
}

// errUnreached is why nothing of a cluster is in an archive.
var errUnreached = errors.New("the API server cannot be reached: check.json says why")

// Collect collects all that can be read. check is the report of svcat check; reached says that
// there is an API server to ask for more.
func (c *Collector) Collect(ctx context.Context, check any, reached bool) *Archive {
	a := &Archive{at: c.Now}
	a.add("check.json", "what svcat check found, without what brokers answered", check)
	if !reached {
		a.add("versions.json", "the version of svcat", versions{Svcat: version.Line()})
		a.lack("everything of the cluster", errUnreached)
		return a
	}
	c.processes(ctx, a)
	c.hooks(ctx, a)
	c.keys(ctx, a)
	for i := range kinds {
		c.objects(ctx, a, &kinds[i])
	}
	c.events(ctx, a)
	return a
}

// versions are those of everything that takes part.
type versions struct {
	Svcat     string `json:"svcat"`
	APIServer string `json:"apiServer,omitempty"`
	// Images are those of the installation's containers, by Deployment.
	Images map[string][]string `json:"images,omitempty"`
}

// everywhere calls list for all namespaces, or for the current one for a user who may not read all:
// then it notes so.
func (c *Collector) everywhere(a *Archive, what string, list func(...client.ListOption) error) error {
	err := list()
	if !apierrors.IsForbidden(err) {
		return err
	}
	limited := list(client.InNamespace(c.Namespace))
	if limited == nil {
		a.lack(what+" of namespaces other than "+c.Namespace, err)
	}
	return limited
}
