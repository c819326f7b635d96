package about

import (
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/internal/version"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// NewVersion returns the command `svcat version`.
func NewVersion(env *cli.Env) *cobra.Command {
	var clientOnly bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of svcat, of Kubernetes and of the service catalog's API",
		Example: `  svcat version

  # Without asking the cluster
  svcat version --client`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := fmt.Fprintln(env.Out, "Client Version:", version.Line()); err != nil || clientOnly {
				return err
			}
			return printServer(cmd, env)
		},
	}
	cmd.Flags().BoolVarP(&clientOnly, "client", "c", false, "Only that of svcat; the cluster is not asked")
	return cmd
}

func printServer(cmd *cobra.Command, env *cli.Env) error {
	config, err := env.Config()
	if err != nil {
		return err
	}
	server, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	kubernetes, err := server.ServerVersionWithContext(cmd.Context())
	if err != nil {
		return fmt.Errorf("cannot ask the API server for its version: %w", err)
	}
	if _, err := fmt.Fprintln(env.Out, "Server Version:", kubernetes.GitVersion); err != nil {
		return err
	}
	group := v1beta1.GroupVersion.String()
	kinds, err := server.ServerResourcesForGroupVersionWithContext(cmd.Context(), group)
	switch {
	case apierrors.IsNotFound(err):
		_, err = fmt.Fprintf(env.Out, "Service Catalog API: %s is not served\n", group)
		return err
	case err != nil:
		return fmt.Errorf("cannot ask the API server for %s: %w", group, err)
	}
	_, err = fmt.Fprintf(env.Out, "Service Catalog API: %s (%d kinds)\n", group, len(kindsOf(kinds)))
	return err
}

// kindsOf are the kinds of a list of resources, each once: most have a status too.
func kindsOf(list *metav1.APIResourceList) map[string]bool {
	kinds := map[string]bool{}
	for i := range list.APIResources {
		kinds[list.APIResources[i].Kind] = true
	}
	return kinds
}
