package snapshot

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/webhook/offline"
	"github.com/defaultplan/defaultplan/webhook/options"
)

// shippedNamespace is where deploy puts the webhook.
const shippedNamespace = "defaultplan-system"

// Flags are the options of the cluster's webhook as a user gives them. What is not given is read
// from its Deployment, where the user may read that.
type Flags struct {
	given *options.Options
	flags *pflag.FlagSet
	// system is the namespace of the webhook.
	system string
}

// Bind adds the flags.
func (f *Flags) Bind(flags *pflag.FlagSet) {
	f.given, f.flags = options.New(), flags
	offline.BindFlags(flags, f.given)
	flags.StringVar(&f.system, "system-namespace", shippedNamespace, "The namespace of the webhook, whose options are read from its Deployment")
}

// Validate says which flag has a value that is not allowed.
func (f *Flags) Validate() error {
	if f.given == nil {
		return nil
	}
	if err := f.given.Validate(); err != nil {
		return cli.Usagef("%w", err)
	}
	return nil
}

// Over are these options, but for those that were given.
func (f *Flags) Over(base *options.Options) *options.Options {
	over := *base
	for name, take := range map[string]func(){
		"unresolved":      func() { over.Unresolved = f.given.Unresolved },
		"schema-check":    func() { over.SchemaCheck = f.given.SchemaCheck },
		"controller-user": func() { over.Controllers = f.given.Controllers },
		"feature-gates":   func() { over.Gates = f.given.Gates },
	} {
		if f.changed(name) {
			take()
		}
	}
	return &over
}

func (f *Flags) changed(name string) bool { return f.flags != nil && f.flags.Changed(name) }

// find are the options of the cluster's webhook; note says that they could not be read.
func (f *Flags) find(ctx context.Context, reader client.Reader) (found *options.Options, note string, err error) {
	read, err := deployed(ctx, reader, f.namespace())
	switch {
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		read = nil
	case err != nil:
		return nil, "", fmt.Errorf("cannot read the options of the webhook in namespace %s: %w", f.namespace(), err)
	}
	if read == nil {
		read = options.New()
		if !f.changed("unresolved") && !f.changed("schema-check") && !f.changed("feature-gates") {
			note = fmt.Sprintf("the options of the webhook: no Deployment of namespace %s tells them, so they are taken to be the defaults; "+
				"give others with --unresolved, --schema-check and --feature-gates, or another namespace with --system-namespace", f.namespace())
		}
	}
	return f.Over(read), note, nil
}

func (f *Flags) namespace() string {
	if f.system == "" {
		return shippedNamespace
	}
	return f.system
}

// deployed are the options of the webhook's Deployment, nil if there is none that can be
// understood.
func deployed(ctx context.Context, reader client.Reader, namespace string) (*options.Options, error) {
	list := &appsv1.DeploymentList{}
	if err := reader.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{"app.kubernetes.io/component": "webhook"}); err != nil {
		return nil, err
	}
	for i := range list.Items {
		for _, container := range list.Items[i].Spec.Template.Spec.Containers {
			if container.Name == "webhook" {
				return parsed(container.Args, namespace), nil
			}
		}
	}
	return nil, nil
}

// parsed are the options among the arguments of a webhook, nil if they cannot be understood.
func parsed(arguments []string, namespace string) *options.Options {
	found := options.New()
	flags := pflag.NewFlagSet("webhook", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	found.Bind(flags)
	expanded := make([]string, len(arguments))
	for i, argument := range arguments {
		expanded[i] = strings.ReplaceAll(argument, "$(NAMESPACE)", namespace)
	}
	if flags.Parse(expanded) != nil || found.Validate() != nil {
		return nil
	}
	return found
}
