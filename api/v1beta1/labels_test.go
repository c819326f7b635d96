package v1beta1

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation"
)

// The sums were taken with coreutils' sha224sum: labels of stored objects hold
// them, so they can never change.
func TestHashLabelValue(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		value  string
		want   string
	}{
		"Name":             {reason: "a broker's name for a class", value: "azure-mysql", want: "84b31a02293deb60067259716e58d1757122823ce3476e473a08da04"},
		"GUID":             {reason: "an ID as brokers give it", value: "997b8372-8dac-40ac-ae65-758b4a5075a5", want: "3c5500a240d9a1cf27a4106e1929c9bc91ee1a85e60b2e0c4349e2c8"},
		"Empty":            {reason: "the sum of nothing", value: "", want: "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f"},
		"TooLongForALabel": {reason: "longer than a label may be", value: strings.Repeat("x", 100), want: "c49c94d0d9ac260177d358388f0461b8ea251125c11187b0878a361e"},
		"Unlawful":         {reason: "what a label may not hold", value: "MySQL 5.7 / größer", want: "682da1159e02f49966160148a4b843f7b8be4dc1d1fa743c378932ea"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := HashLabelValue(tc.value)
			assert.Equal(t, tc.want, got, tc.reason)
			assert.Empty(t, validation.IsValidLabelValue(got))
		})
	}
}

func TestLabelAndAnnotationKeysAreLawful(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		LabelExternalID, LabelExternalName, LabelClusterServiceBrokerName, LabelServiceBrokerName,
		LabelClusterServiceClassRefName, LabelServiceClassRefName, LabelClusterServicePlanRefName, LabelServicePlanRefName,
		AnnotationDefaultPlan, AnnotationSuggestedPlan, AnnotationAppliedDefaults, AnnotationMintedExternalID,
		FinalizerServiceCatalog,
	} {
		assert.Empty(t, validation.IsQualifiedName(key), key)
	}
}

// The hashed labels are named after the fields that they hold.
func TestLabelsAreNamedAfterFields(t *testing.T) {
	t.Parallel()
	for label, field := range map[string]string{
		LabelExternalID: FieldExternalID, LabelExternalName: FieldExternalName,
		LabelClusterServiceBrokerName: FieldClusterServiceBrokerName, LabelServiceBrokerName: FieldServiceBrokerName,
		LabelClusterServiceClassRefName: FieldClusterServiceClassRefName, LabelServiceClassRefName: FieldServiceClassRefName,
		LabelClusterServicePlanRefName: FieldClusterServicePlanRefName, LabelServicePlanRefName: FieldServicePlanRefName,
	} {
		assert.Equal(t, field, strings.TrimPrefix(label, GroupName+"/"))
	}
}
