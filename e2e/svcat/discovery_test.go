package svcat_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/stack"
	"github.com/defaultplan/defaultplan/e2e/stack/suite"
)

// A block is a console block of default-service-plans.md: a command and what it
// prints, here with single spaces.
type block struct {
	args  []string
	lines []string
	// more are lines that ours has beside the proposal's.
	more []string
	// part says that the proposal shows the beginning only ("...").
	part bool
	// instead are lines of the proposal that read otherwise.
	instead map[string]string
}

const (
	header  = "TYPE NAME DESCRIPTION SCOPE"
	redis   = "redis azure-redis Azure Redis broker (azure)"
	azurePG = "postgres azure-postgresql Azure PostgreSQL broker (azure)"
	pgDev   = "postgres postgres-dev Dev DB cluster"
	pgInDev = "postgres postgres-dev Dev DB ns (dev)"
	pgInQA  = "postgres postgres-qa QA DB ns (qa)"
)

// discovery are the blocks of "Service Class Discovery", typed in namespace dev.
var discovery = map[string]block{
	// Without flags the cluster's are listed too: they can be ordered as well.
	"GetClasses":           {args: []string{"get", "classes"}, lines: []string{header, pgInDev}, more: []string{redis, azurePG, pgDev}},
	"DescribeClass":        {args: []string{"describe", "class", "postgres-dev"}, lines: []string{"Name: postgres-dev", "Scope: namespace", "Namespace: dev"}, part: true},
	"GetClassesNamespace":  {args: []string{"get", "classes", "--namespace", "qa"}, lines: []string{header, pgInQA}},
	"GetClassesCluster":    {args: []string{"get", "classes", "--cluster"}, lines: []string{header, redis, azurePG, pgDev}},
	"DescribeClassCluster": {args: []string{"describe", "class", "postgres-dev", "--cluster"}, lines: []string{"Name: postgres-dev", "Scope: cluster"}, part: true},
	"DescribeClassBroker":  {args: []string{"describe", "class", "azure-postgresql", "--cluster"}, lines: []string{"Name: azure-postgresql", "Scope: broker", "Broker: azure"}, part: true},
	"GetClassesEverywhere": {args: []string{"get", "classes", "--cluster", "--all-namespaces"}, lines: []string{header, redis, azurePG, pgDev, pgInDev, pgInQA}},
	"GetClassesOfType":     {args: []string{"get", "classes", "--type", "redis"}, lines: []string{header, redis}},
	"GetPlansDefault":      {args: []string{"get", "plans", "--default"}, lines: []string{"TYPE NAME CLASS DESCRIPTION SCOPE", "redis* basic azure-redis Azure Redis broker (azure)", "postgres* tiny postgres-dev Tiny Dev DB cluster"}},
}

// management are the blocks of "Service Instance Management" and "Service Binding
// Management", typed in namespace default.
var management = map[string]block{
	"DescribeInstance": {
		args: []string{"describe", "instance", "mydb"},
		lines: []string{
			"Name: mydb", "Namespace: default", "Status: Ready - The instance was provisioned successfully @ 2017-11-30 13:11:49 -0600 CST",
			"Type: mysql", "Class: azure-mysql", "Plan: basic50", "Parameters:",
			// The proposal has the keys in another order, and addresses in quotes.
			"firewallRules:", "- endIPAddress: 255.255.255.255", "name: AllowAll", "startIPAddress: 0.0.0.0",
			"location: westus", "resourceGroup: default", "sslEnforcement: disabled",
		},
		instead: map[string]string{
			"Status: Ready - The instance was provisioned successfully @ 2017-11-30 13:11:49 -0600 CST": "Status: Ready - The instance was provisioned successfully @ 2017-11-30 19:11:49 +0000 UTC",
		},
		part: true,
	},
	"DescribeBinding": {
		args: []string{"describe", "binding", "mydb-admin"},
		lines: []string{
			"Name: mydb-admin", "Namespace: default", "Status: Ready - The binding was injected successfully @ 2017-11-30 13:11:49 -0600 CST",
			"Type: mysql", "Instance: mydb", "Parameters:", "user: admin",
		},
		instead: map[string]string{
			"Status: Ready - The binding was injected successfully @ 2017-11-30 13:11:49 -0600 CST": "Status: Ready - The binding was injected successfully @ 2017-11-30 19:11:49 +0000 UTC",
		},
		part: true,
	},
}

// TestTheProposalsDiscovery prints what the proposal prints, with its data. It has a
// stack of its own: lists of the whole cluster show what others leave there.
func TestTheProposalsDiscovery(t *testing.T) {
	t.Parallel()
	own := suite.New(t, stack.Options{Webhooks: 1})
	e := newEnvOn(t, own)

	e.applyAsIs(proposalBroker)
	e.applyAsIs(e.owned(proposalCatalog))
	e.defaultsRecorded("redis", "postgres")
	e.show("discovery", e.inContext("dev"), discovery)

	e.applyAsIs(e.owned(proposalInstance))
	e.becomes(&v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mydb"}},
		"ProvisionedSuccessfully", "The instance was provisioned successfully")
	e.becomes(&v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mydb-admin"}},
		"InjectedBindResult", "The binding was injected successfully")
	e.show("management", e.inContext("default"), management)
}

// defaultsRecorded waits until the keeper has recorded the defaults of types.
func (e *testEnv) defaultsRecorded(serviceTypes ...string) {
	e.Helper()
	for _, name := range serviceTypes {
		e.Eventually(func() (bool, error) {
			record := &v1beta1.ClusterServiceType{}
			err := e.Client().Get(e.Context(), types.NamespacedName{Name: name}, record)
			return err == nil && record.Status.Confirmed, err
		})
	}
}

// show runs the blocks, and holds what they print against the proposal and against
// golden files.
func (e *testEnv) show(folder string, environment []string, blocks map[string]block) {
	e.Helper()
	for name, b := range blocks {
		e.Run(name, func(t *testing.T) {
			in := &testEnv{e.In(t)}
			got := in.runAs(environment, "", b.args...)
			require.Zero(t, got.code, got.err)
			assert.Empty(t, got.err)
			in.golden(filepath.Join(folder, name), got.out)
			b.holds(t, got.out)
		})
	}
}

// holds compares what was printed with the proposal's block: tables have the same
// rows in any order, and only the rows in more beside them; what is described has the
// same lines in the same order, with others between.
func (b block) holds(t *testing.T, printed string) {
	t.Helper()
	var ours []string
	for line := range strings.Lines(printed) {
		line = strings.Join(strings.Fields(line), " ")
		if line != "" && !strings.HasPrefix(line, "+-") {
			ours = append(ours, line)
		}
	}
	if !b.part {
		assert.ElementsMatch(t, slices.Concat(b.lines, b.more), ours)
		return
	}
	for _, line := range b.lines {
		if other, differs := b.instead[line]; differs {
			line = other
		}
		i := slices.Index(ours, line)
		if assert.GreaterOrEqual(t, i, 0, "%q is missing, or stands before the line above it", line) {
			ours = ours[i+1:]
		}
	}
}
