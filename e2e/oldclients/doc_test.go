// Package oldclients_test proves that manifests and clients of the retired service catalog
// are served as they always were, with all feature gates off and with all on, and that
// objects that are older than the webhooks go on.
package oldclients_test
