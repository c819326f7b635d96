package defaultplan_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// retiredReasons are those that conditions of the retired catalog have, which scripts and alerts match.
const retiredReasons = `
ProvisionedSuccessfully InstanceUpdatedSuccessfully DeprovisionedSuccessfully OrphanMitigationSuccessful ErrorWithParameters
ProvisionCallFailed ErrorCallingProvision UpdateInstanceCallFailed ErrorCallingUpdateInstance DeprovisionCallFailed
DeprovisionBlockedByExistingCredentials ErrorPollingLastOperation ErrorWithOriginatingIdentity ErrorAsyncOperationInProgress
ReferencesNonexistentServiceClass ReferencesNonexistentServicePlan ReferencesNonexistentBroker ReferencesDeletedServiceClass
ReferencesDeletedServicePlan ErrorFindingNamespaceForInstance OrphanMitigationFailed InvalidDeprovisionStatus
ClusterServiceBrokerReturnedFailure ErrorReconciliationRetryTimeout Provisioning UpdatingInstance Deprovisioning
ServiceBindingsDeletion ProvisionRequestInFlight UpdateInstanceRequestInFlight DeprovisionRequestInFlight
StartingInstanceOrphanMitigation RetryBackoff
InjectedBindResult UnboundSuccessfully ReferencesNonexistentInstance BindCallFailed ErrorInjectingBindResult
ErrorEjectingServiceBinding UnbindCallFailed ErrorNonbindableServiceClass ErrorInstanceRefsUnresolved ErrorInstanceNotReady
ServiceBindingNeedsOrphanMitigation FetchingBindingFailed AsyncOperationTimeout ServiceBindingReturnedFailure Binding Unbinding
BindingRequestInFlight UnbindingRequestInFlight
FetchedCatalog ErrorFetchingCatalog ErrorSyncingCatalog`

// TestRetiredReasons holds the controller to the reasons of the retired catalog: it gives each of them,
// or docs/migration.md says that it is gone, not both.
func TestRetiredReasons(t *testing.T) {
	t.Parallel()
	given := sources(t, "osb/lifecycle") + sources(t, "osb/controller")
	page, err := os.ReadFile("docs/migration.md")
	require.NoError(t, err)
	_, row, found := strings.Cut(string(page), "| removed reasons | ")
	require.True(t, found)
	removed, _, _ := strings.Cut(row, " | ")
	for reason := range strings.FieldsSeq(retiredReasons) {
		ours, gone := strings.Contains(given, `"`+reason+`"`), strings.Contains(removed, "`"+reason+"`")
		assert.NotEqual(t, ours, gone, "%s: the controller gives it: %t, docs/migration.md says that it is gone: %t", reason, ours, gone)
	}
}

// sources are all hand-written files below a folder, but those of tests.
func sources(t *testing.T, folder string) string {
	t.Helper()
	var all strings.Builder
	require.NoError(t, fs.WalkDir(os.DirFS("."), folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		content, err := os.ReadFile(name)
		all.Write(content)
		return err
	}))
	return all.String()
}
