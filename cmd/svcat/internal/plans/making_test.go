package plans

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/catalog"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

func TestUnanswered(t *testing.T) {
	t.Parallel()
	request := func(err error) error { return &url.Error{Op: "Post", URL: "https://x", Err: err} }
	for name, tc := range map[string]struct {
		reason string
		err    error
		want   bool
	}{
		"Refused":     {"The API server said no.", apierrors.NewNotFound(schema.GroupResource{}, "x"), false},
		"Interrupted": {"Its answer came too late.", &cli.Failure{Code: cli.ExitInterrupted, Err: errors.New("interrupted")}, true},
		"CutOff":      {"It may have been stored.", request(errors.New("EOF")), true},
		"Read":        {"So it may.", request(&net.OpError{Op: "read", Err: errors.New("reset")}), true},
		"NotReached":  {"It was never sent.", request(&net.OpError{Op: "dial", Err: errors.New("refused")}), false},
		"Ours":        {"Nor was this.", errors.New("cannot encode"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, unanswered(fmt.Errorf("wrapped: %w", tc.err)), tc.reason)
		})
	}
}

func TestOnlyOne(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	found, other := planAt(key("dev", "small")), planAt(key("", "small"))
	for name, tc := range map[string]struct {
		reason string
		err    error
		want   string
	}{
		"Both":      {"Two objects.", nil, `plan "k1/small" may be serviceplan dev/small or clusterserviceplan small; say which: --namespace dev or --cluster`},
		"Several":   {"The cluster has two of them.", &catalog.NameError{Fits: []string{"a", "b"}}, `plan "k1/small" may be serviceplan dev/small or several in the cluster; say which: --namespace dev or --cluster`},
		"NotThere":  {"The namespace's alone.", &catalog.NameError{}, ""},
		"Forbidden": {"Who may not read them does not mean them.", apierrors.NewForbidden(schema.GroupResource{}, "x", failed), ""},
		"Failed":    {"It is unknown.", failed, "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := onlyOne("plan", "k1/small", found, other, tc.err)
			if tc.want == "" {
				assert.NoError(t, err, tc.reason)
				return
			}
			assert.EqualError(t, err, tc.want, tc.reason)
		})
	}
}

func key(namespace, name string) client.ObjectKey {
	return client.ObjectKey{Namespace: namespace, Name: name}
}
