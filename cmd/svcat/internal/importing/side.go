package importing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/apistatus"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/moving"
)

// A side is the cluster to which objects are moved.
type side struct {
	env    *cli.Env
	client client.WithWatch
	names  *moving.Names
	wait   time.Duration
	dryRun bool
	report *moving.Report
	// ready waits for objects until they can be used or failed, and leaves them as they were last seen.
	ready func(ctx context.Context, limit time.Duration, objects ...client.Object) error
	// taken maps the place of an instance or binding here to the object of the file that comes to it.
	taken map[string]string
	// lacking are the namespaces that are not here, and that a dry run does not create.
	lacking map[string]bool
}

// create creates an object, or asks admission whether it could be created.
func (s *side) create(ctx context.Context, object client.Object) error {
	write := &cli.WriteFlags{}
	if s.dryRun {
		write.DryRun = "server"
	}
	return cli.Whole(ctx, "it was created", func(ctx context.Context) error { return write.Create(ctx, s.client, object) })
}

// namespaces looks whether the namespaces of the file are here, and creates them if that is
// asked for.
func (s *side) namespaces(ctx context.Context, contents *moving.Contents, create bool) error {
	s.lacking = map[string]bool{}
	var missing []string
	for _, name := range namespacesOf(contents, s.names) {
		err := s.client.Get(ctx, client.ObjectKey{Name: name}, &corev1.Namespace{})
		switch {
		case err == nil || apierrors.IsForbidden(err): // what is created there tells
		case !apierrors.IsNotFound(err):
			return fmt.Errorf("cannot read namespace %q: %w", name, err)
		case !create:
			missing = append(missing, name)
		case s.dryRun:
			s.lacking[name] = true
			s.report.AddNamespace(name, "would be created")
		default:
			err := s.create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
			if err != nil && !apierrors.IsAlreadyExists(err) {
				return fmt.Errorf("cannot create namespace %q: %w", name, err)
			}
			if err == nil {
				s.report.AddNamespace(name, "created")
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	commands := make([]string, len(missing))
	for i, name := range missing {
		commands[i] = "\n  → kubectl create namespace " + name
	}
	return fmt.Errorf("cannot import: not here: namespace %s%s\n  → or have import create them: --create-namespaces\n  → or import into others: --map OLD=NEW",
		strings.Join(missing, ", "), strings.Join(commands, ""))
}

// namespacesOf are the namespaces that objects of the file come into.
func namespacesOf(contents *moving.Contents, names *moving.Names) []string {
	var all []string
	for _, object := range contents.Objects() {
		if namespace := object.GetNamespace(); len(namespace) > 0 && contents.Obstacle(object) == "" {
			all = append(all, names.New(namespace))
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(all)))
}

// An outcome is what becomes of an object of the file. Without a result it is waited for.
type outcome struct {
	exported client.Object
	// here is the object of this cluster; nil: there is none.
	here client.Object
	// existed says that it was here before.
	existed bool
	// where says where a broker is that the file has be registered here.
	where  string
	result moving.Result
	reason string
}

// endf gives an outcome its result, and the reason of it.
func (o *outcome) endf(result moving.Result, format string, args ...any) {
	o.result, o.reason = result, fmt.Sprintf(format, args...)
}

// at begins the reason of a broker with the address to which its credentials were sent.
func (o *outcome) at() string {
	if o.where == "" {
		return ""
	}
	return "at " + o.where + ": "
}

// failed ends an outcome by what the API server answered.
func (o *outcome) failed(err error) {
	result := moving.NotMoved
	if cli.IsConflict(err) {
		result = moving.Conflict
	}
	o.endf(result, "%s", apistatus.Error(err))
}

// attempt moves an object, unless the command was interrupted before.
func (o *outcome) attempt(ctx context.Context, move func() error) {
	if ctx.Err() != nil {
		o.endf(moving.NotMoved, "interrupted before it")
		return
	}
	if err := move(); err != nil {
		o.failed(err)
	}
}

// arrived says that the object is here and can be used.
func (o *outcome) arrived() bool { return o.result == moving.Moved || o.result == moving.Unchanged }

// add reports outcomes.
func (s *side) add(outcomes []*outcome) {
	for _, o := range outcomes {
		s.report.Add(o.exported, s.names, o.result, o.reason)
	}
}
