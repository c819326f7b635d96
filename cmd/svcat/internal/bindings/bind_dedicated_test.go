package bindings

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/parameters"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/planflags"
)

// What the argument of bind means follows from its flags, and never from what there is.
func TestValidate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason string
		bind   bind
		own    bool
		wrong  string
	}{
		"Instance":    {"as ever", bind{}, false, ""},
		"Named":       {"as ever", bind{name: "mydb-admin"}, false, ""},
		"Type":        {"one of its own", bind{plan: planflags.Flags{Type: "mysql"}}, true, ""},
		"Plan":        {"one of its own", bind{plan: planflags.Flags{Plan: "db/small"}}, true, ""},
		"Selector":    {"one of its own", bind{plan: planflags.Flags{Selector: "Cores=4"}}, true, ""},
		"Given":       {"what it is given", bind{plan: planflags.Flags{Type: "mysql"}, provision: parameters.Flags{Params: []string{"a=1"}}}, true, ""},
		"TwoNames":    {"which is its name?", bind{name: "creds", plan: planflags.Flags{Type: "mysql"}}, true, "--name is for a binding to an INSTANCE"},
		"Nothing":     {"parameters of what?", bind{provision: parameters.Flags{Params: []string{"a=1"}}}, false, "for an instance of the binding's own: say of what"},
		"KubeName":    {"the name of what?", bind{plan: planflags.Flags{KubeName: true}}, false, "--kube-name says how --class and --plan are meant"},
		"Adopt":       {"what is there", bind{adopt: true, externalID: "e-1"}, false, ""},
		"AdoptWhich":  {"which?", bind{adopt: true}, false, "--external-id ID"},
		"AdoptNew":    {"nothing is bound to it", bind{adopt: true, externalID: "e-1", plan: planflags.Flags{Type: "mysql"}}, true, "--adopt is for a binding to an INSTANCE"},
		"BothChoices": {"as with provision", bind{plan: planflags.Flags{Class: "db", Selector: "a=b"}}, true, "exclude each other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.bind.validate()
			assert.Equal(t, c.own, c.bind.dedicated(), c.reason)
			if c.wrong == "" {
				require.NoError(t, err, c.reason)
				return
			}
			require.ErrorContains(t, err, c.wrong, c.reason)
			assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
		})
	}
}
