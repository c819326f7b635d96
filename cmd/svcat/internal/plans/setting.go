package plans

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/complete"
)

// A setting is one run of set.
type setting struct {
	env    *cli.Env
	fields fieldFlags
	scope  cli.ScopeFlags
	writes cli.WriteFlags

	kubeName  bool
	isDefault bool
	ofClass   string
	loose     bool // No flag names the scope.
}

func (s *setting) bind(cmd *cobra.Command, plan bool) {
	s.fields.bind(s.env, cmd, plan)
	s.scope.Bind(cmd.Flags(), false)
	s.writes.Bind(cmd.Flags())
	cmd.Flags().BoolVarP(&s.kubeName, "kube-name", "k", false, "NAME is the Kubernetes name")
	complete.Flags(cmd, map[string]complete.Func{"scope": complete.Words("cluster", "namespace", "all")})
}

// begin validates the command line and connects.
func (s *setting) begin(cmd *cobra.Command) ([]*edit, catalog.Finder, client.Client, error) {
	if err := s.writes.Validate(); err != nil {
		return nil, catalog.Finder{}, nil, err
	}
	edits, err := s.fields.edits(cmd, s.env.In)
	if err != nil {
		return nil, catalog.Finder{}, nil, err
	}
	if len(edits) == 0 && !cmd.Flags().Changed("default") {
		return nil, catalog.Finder{}, nil, cli.Usagef("nothing to set; give one or more of %s; see %s --help", s.fields.names(cmd), cmd.CommandPath())
	}
	scope, err := s.scope.Resolve(s.env)
	if err != nil {
		return nil, catalog.Finder{}, nil, err
	}
	_, given, err := s.env.Namespace()
	if err != nil {
		return nil, catalog.Finder{}, nil, err
	}
	s.loose = !given && !s.scope.Cluster && s.scope.Scope == ""
	c, err := s.env.Client()
	return edits, catalog.Finder{Reader: c, Scope: scope, KubeName: s.kubeName}, c, err
}

func (s *setting) class(cmd *cobra.Command, name string) error {
	edits, finder, c, err := s.begin(cmd)
	if err != nil {
		return err
	}
	class, err := findClass(cmd.Context(), finder, s.loose, name)
	if err != nil {
		return cli.Untouched(err)
	}
	title := "class " + class.Title() + in(class.Object.GetNamespace())
	written, err := s.write(cmd.Context(), c, target{class.Object, title, editableClass(class)}, edits)
	if err != nil {
		return err
	}
	return s.print(written)
}

func (s *setting) plan(cmd *cobra.Command, name string) error {
	edits, finder, c, err := s.begin(cmd)
	if err != nil {
		return err
	}
	plan, err := findPlan(cmd.Context(), finder, s.loose, s.ofClass, name)
	if err != nil {
		return cli.Untouched(err)
	}
	title, err := titleOf(cmd.Context(), c, plan)
	if err != nil {
		return cli.Untouched(err)
	}
	change := &Switch{Env: s.env, Client: c, Writes: &s.writes}
	given := cmd.Flags().Changed("default")
	if given && !s.isDefault {
		if err := change.Off(cmd.Context(), plan); err != nil {
			return err
		}
	}
	written, err := s.writePlan(cmd.Context(), change, plan, title, edits, given && s.isDefault)
	if err != nil {
		return err
	}
	if given && s.isDefault {
		change.untold = retyped(edits) && s.writes.Sends() && !s.writes.Stores()
		if err := s.makeDefault(cmd.Context(), change, written, edits); err != nil {
			return err
		}
	}
	if !given {
		return s.print(written)
	}
	return printSwitched(cmd.Context(), s.env, c, &s.writes, written, s.isDefault)
}

// makeDefault switches to a plan as it was just written.
func (s *setting) makeDefault(ctx context.Context, change *Switch, written client.Object, edits []*edit) error {
	plan, _ := catalog.PlanOf(written)
	err := change.To(ctx, plan)
	if err != nil && len(edits) > 0 && s.writes.Stores() {
		warnf(s.env, "the plan is set, but not the default")
	}
	return err
}

// titleOf is a plan as CLASS/PLAN.
func titleOf(ctx context.Context, reader client.Reader, plan catalog.Plan) (string, error) {
	class, err := catalog.ClassOfPlan(ctx, reader, plan)
	if apierrors.IsNotFound(err) {
		return plan.ClassName + "/" + plan.Title(), nil
	}
	if err != nil {
		return "", err
	}
	return class.Title() + "/" + plan.Title(), nil
}

func retyped(edits []*edit) bool {
	for _, e := range edits {
		if e.name == "serviceType" {
			return true
		}
	}
	return false
}

// names are the flags of fields that a command has.
func (f *fieldFlags) names(cmd *cobra.Command) string {
	var names []string
	for _, one := range fields {
		if f.values[one.flag] != nil {
			names = append(names, "--"+one.flag)
		}
	}
	if cmd.Flags().Lookup("default") != nil {
		names = append(names, "--default")
	}
	return strings.Join(names, ", ")
}
