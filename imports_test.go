// Package defaultplan_test holds the rules of the project that no package can hold
// about itself.
package defaultplan_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/defaultplan/defaultplan/"

// svcat is where the packages of svcat are.
const svcat = "cmd/svcat/internal/"

// An import rule says what the packages under a path may not import directly. Most are said
// a second time in .golangci.yml, where an editor shows them; here they need only
// the go command.
var importRules = map[string]struct {
	reason string
	under  []string
	except []string
	denied []string
	// allowed are packages below those that are denied.
	allowed []string
}{
	"ApiIsALeaf": {
		reason: "everything points to api, and api to nothing of ours",
		under:  []string{"api"},
		denied: []string{module},
	},
	"DecisionsArePure": {
		reason: "a decision is a function of its arguments: no context, client, clock, logger, net or os",
		under:  []string{"resolve", "merge", "webhook/suggest"},
		except: []string{"merge/schemacache"},
		denied: []string{
			"context", "net", "os", "time", "log", "k8s.io/utils/clock", "github.com/go-logr", "go.uber.org/zap",
			"k8s.io/client-go", "sigs.k8s.io/controller-runtime", module + "webhook", module + "osb/controller", module + "e2e",
		},
	},
	"StateMachineIsPure": {
		reason: "the state machine is given the time: no context, client, clock, logger, net or os",
		under:  []string{"osb/lifecycle"},
		denied: []string{
			"context", "net", "os", "log", "k8s.io/utils/clock", "github.com/go-logr", "go.uber.org/zap",
			"k8s.io/client-go", "sigs.k8s.io/controller-runtime", module + "webhook", module + "osb/controller", module + "e2e",
		},
	},
	"BrokersKnowNoKubernetes": {
		reason: "osb speaks to brokers, and could be used without a cluster",
		under:  []string{"osb"},
		except: []string{"osb/controller", "osb/lifecycle"},
		denied: []string{"k8s.io/", "sigs.k8s.io/"},
	},
	"ReviewsKnowNoKind": {
		reason:  "how a review is served does not depend on what is reviewed",
		under:   []string{"webhook/review"},
		denied:  []string{module + "osb", module + "webhook"},
		allowed: []string{module + "webhook/suggest"},
	},
	"CatalogOnlyReads": {
		reason:  "what is read of the catalog does not depend on who reads: admission and the keeper do",
		under:   []string{"webhook/catalog", "webhook/coalesce"},
		denied:  []string{module + "osb", module + "webhook"},
		allowed: []string{module + "webhook/suggest", module + "webhook/coalesce"},
	},
	"SharedRoomsKnowNoKind": {
		reason: "what the admission of several kinds shares depends on none of them",
		under: []string{
			"webhook/access", "webhook/decision", "webhook/externalid", "webhook/options", "webhook/parameters",
			"webhook/policies", "webhook/references", "webhook/restore", "webhook/schema",
		},
		denied: []string{
			module + "osb", module + "webhook/binding", module + "webhook/instance", module + "webhook/offering",
			module + "webhook/keeper", module + "webhook/offline",
		},
	},
	"KindsAreApart": {
		reason: "the admission of one kind knows no other",
		under:  []string{"webhook/instance", "webhook/offering"},
		denied: []string{
			module + "osb", module + "webhook/binding", module + "webhook/instance", module + "webhook/offering",
			module + "webhook/keeper", module + "webhook/offline",
		},
	},
	"BindingsKnowInstances": {
		reason: "a binding may get an instance of its own, which is admitted as any other",
		under:  []string{"webhook/binding"},
		denied: []string{module + "osb", module + "webhook/offering", module + "webhook/keeper", module + "webhook/offline"},
	},
	"KeepersAreApart": {
		reason: "no controller of the keeper knows another; what they share is webhook/keeper/controller",
		under:  []string{"webhook/keeper/controller", "webhook/keeper/defaults", "webhook/keeper/policystatus", "webhook/keeper/requeue", "webhook/keeper/slots"},
		denied: []string{module + "webhook/keeper/defaults", module + "webhook/keeper/policystatus", module + "webhook/keeper/requeue", module + "webhook/keeper/slots"},
	},
	"OwnedIsBelow": {
		reason: "what a binding owns, and what a controller is for, is known to the rooms above, and knows none of them",
		under:  []string{"osb/controller/owned", "osb/controller/scope"},
		denied: []string{module + "osb/controller"},
	},
	"ControllerRoomsAreBelow": {
		reason: "what counts, traces, queues and indexes knows none of the reconcilers that use it",
		under: []string{
			"osb/controller/catalog", "osb/controller/dedicated", "osb/controller/dependents", "osb/controller/events", "osb/controller/failing", "osb/controller/indexes",
			"osb/controller/metrics", "osb/controller/parameters", "osb/controller/platform", "osb/controller/policies", "osb/controller/queue",
			"osb/controller/requests", "osb/controller/resync", "osb/controller/tracing", "osb/controller/watches",
		},
		denied: []string{
			module + "osb/controller/broker", module + "osb/controller/credentials", module + "osb/controller/deposit",
			module + "osb/controller/endpoints", module + "osb/controller/inuse", module + "osb/controller/relist",
		},
	},
	"DepositsKnowNoReconciler": {
		reason: "what a broker gave is kept without knowing how it was asked for",
		under:  []string{"osb/controller/credentials", "osb/controller/deposit", "osb/controller/endpoints"},
		denied: []string{module + "osb/controller/broker", module + "osb/controller/inuse", module + "osb/controller/relist"},
	},
	"PoliciesOnlyRead": {
		reason:  "what policies and the catalog say does not depend on what is reconciled by it",
		under:   []string{"osb/controller/catalog", "osb/controller/policies"},
		denied:  []string{module + "osb/controller/dependents", module + "osb/controller/queue", module + "osb/controller/watches", module + "webhook"},
		allowed: []string{module + "webhook/coalesce"},
	},
	"BrokersKnowNoBindings": {
		reason: "a broker is reconciled without knowing how instances and bindings are",
		under:  []string{"osb/controller/broker"},
		denied: []string{module + "osb/controller/credentials", module + "osb/controller/deposit", module + "osb/controller/endpoints", module + "osb/controller/inuse"},
	},
	"SvcatPointsDown": {
		reason:  "cli, printer, termtext and apistatus are what all commands share: they know no command, and not what is in a cluster",
		under:   []string{svcat + "cli", svcat + "printer", svcat + "termtext", svcat + "apistatus"},
		denied:  []string{module + svcat},
		allowed: []string{module + svcat + "cli", module + svcat + "printer", module + svcat + "termtext", module + svcat + "apistatus"},
	},
	"SvcatRunsInBrowsers": {
		reason:  "what a page runs has no terminal, no kubeconfig and no cluster",
		under:   []string{svcat + "manifest", svcat + "rendering", svcat + "origins", svcat + "trial"},
		denied:  []string{module + svcat, "github.com/spf13/cobra", "k8s.io/cli-runtime", "k8s.io/client-go"},
		allowed: []string{module + svcat + "manifest", module + svcat + "rendering", module + svcat + "origins", module + svcat + "printer", module + svcat + "apistatus"},
	},
	"SvcatRightsKnowNoCommand": {
		reason:  "which rights are missing is known to all commands and the page, and knows none of them",
		under:   []string{svcat + "rights"},
		denied:  []string{module + svcat, module + "webhook", module + "osb"},
		allowed: []string{module + svcat + "cli"},
	},
	"SvcatRemediesKnowNoCommand": {
		reason:  "errors of transport and rights are the same for all commands",
		under:   []string{svcat + "remedy"},
		denied:  []string{module + svcat, module + "webhook", module + "osb"},
		allowed: []string{module + svcat + "cli", module + svcat + "rights"},
	},
	"SvcatCatalogKnowsNoCommand": {
		reason:  "the catalog is read for commands, and knows none",
		under:   []string{svcat + "catalog"},
		denied:  []string{module + svcat},
		allowed: []string{module + svcat + "cli", module + svcat + "termtext"},
	},
	"ShellsAreTheOutside": {
		reason: "only cmd and e2e put the shells together",
		under:  []string{""},
		except: []string{"cmd", "e2e", "webhook", "osb/controller"},
		denied: []string{module + "webhook", module + "osb/controller", module + "cmd"},
	},
}

func TestImports(t *testing.T) {
	t.Parallel()
	packages := listPackages(t)
	for name, rule := range importRules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for path, imports := range packages {
				if !inside(path, rule.under) || inside(path, rule.except) {
					continue
				}
				for _, imported := range imports {
					broken := breaks(imported, rule.denied) && !breaks(imported, rule.allowed)
					assert.False(t, broken, "%s imports %s: %s", path, imported, rule.reason)
				}
			}
		})
	}
}

func TestImportRulesCanBeBroken(t *testing.T) {
	t.Parallel()
	pure := importRules["DecisionsArePure"].denied
	for _, imported := range []string{"context", "os", "net/http", "time", "k8s.io/client-go/rest", module + "webhook"} {
		assert.True(t, breaks(imported, pure), imported)
	}
	for _, imported := range []string{"encoding/json", "contextual", "k8s.io/apimachinery/pkg/labels", module + "api/v1beta1"} {
		assert.False(t, breaks(imported, pure), imported)
	}
}

// listPackages maps each package's path below the module to its direct imports,
// those of its tests not counted.
func listPackages(t *testing.T) map[string][]string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...").Output()
	require.NoError(t, err)
	packages := map[string][]string{}
	decoder := json.NewDecoder(strings.NewReader(string(output)))
	for {
		var listed struct {
			ImportPath string
			Imports    []string
		}
		err := decoder.Decode(&listed)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		packages[strings.TrimPrefix(listed.ImportPath, module)] = listed.Imports
	}
	require.Contains(t, packages, "resolve", "the packages are listed")
	return packages
}

// inside says whether a path is one of the roots or below one.
func inside(path string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return root == "" || path == root || strings.HasPrefix(path, root+"/")
	})
}

func breaks(imported string, denied []string) bool {
	return slices.ContainsFunc(denied, func(prefix string) bool {
		return imported == prefix || strings.HasPrefix(imported, strings.TrimSuffix(prefix, "/")+"/")
	})
}
