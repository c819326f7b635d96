package order

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// What the argument of bind means follows from its flags, and never from what there is.
func TestWellAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason string
		bind   bind
		own    bool
		wrong  string
	}{
		"Instance":    {"as ever", bind{}, false, ""},
		"Named":       {"as ever", bind{name: "mydb-admin"}, false, ""},
		"Type":        {"one of its own", bind{choice: choice{serviceType: "mysql"}}, true, ""},
		"Plan":        {"one of its own", bind{choice: choice{plan: "db/small"}}, true, ""},
		"Selector":    {"one of its own", bind{choice: choice{selector: "Cores=4"}}, true, ""},
		"Given":       {"what it is given", bind{choice: choice{serviceType: "mysql"}, provisions: gift{params: []string{"a=1"}}}, true, ""},
		"TwoNames":    {"which is its name?", bind{name: "creds", choice: choice{serviceType: "mysql"}}, true, "--name is for a binding to an INSTANCE"},
		"Nothing":     {"parameters of what?", bind{provisions: gift{params: []string{"a=1"}}}, false, "for an instance of the binding's own: say of what"},
		"KubeName":    {"the name of what?", bind{choice: choice{kubeName: true}}, false, "--kube-name says how --class and --plan are meant"},
		"BothChoices": {"as with provision", bind{choice: choice{class: "db", selector: "a=b"}}, true, "exclude each other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.bind.wellAsked()
			assert.Equal(t, c.own, c.bind.asksOwn(), c.reason)
			if c.wrong == "" {
				require.NoError(t, err, c.reason)
				return
			}
			require.ErrorContains(t, err, c.wrong, c.reason)
			assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
		})
	}
}

func TestAdoptNamesWhich(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, (&provision{adopts: true}).which(), "--external-id")
	require.NoError(t, (&provision{adopts: true, externalID: "e-1"}).which())
	require.NoError(t, (&provision{}).which())
}
