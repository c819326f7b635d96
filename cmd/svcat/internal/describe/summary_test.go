package describe

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

func TestWriteInstance(t *testing.T) {
	t.Parallel()
	ready := v1beta1.Ready("ProvisionedSuccessfully", "The instance was provisioned successfully.")
	ready.LastTransitionTime = metav1.NewTime(time.Date(2018, 1, 11, 14, 59, 47, 0, time.FixedZone("CST", -6*60*60)))
	cases := map[string]struct {
		reason string
		edit   func(*v1beta1.ServiceInstance)
		want   string
	}{
		"Ready": {
			reason: "times are in UTC, and the message has no full stop",
			edit: func(i *v1beta1.ServiceInstance) {
				i.Status.Conditions = []v1beta1.Condition{ready}
				i.Status.DashboardURL = new("https://dashboard.example")
			},
			want: "  Name:           mydb\n  Namespace:      dev\n  Status:         Ready - The instance was provisioned successfully @ 2018-01-11 20:59:47 +0000 UTC\n" +
				"  DashboardURL:   https://dashboard.example\n  Type:           mysql\n  Class:          azure-mysql\n  Plan:           basic50\n\nParameters:\nNo parameters defined\n",
		},
		"TypeOfPlan": {
			reason: "who named class and plan sees of which type they are",
			edit:   func(i *v1beta1.ServiceInstance) { i.Spec.ServiceType, i.Status.ServiceType = "", "mariadb" },
			want: "  Name:        mydb\n  Namespace:   dev\n  Status:      Pending - no controller has seen it yet\n  Type:        mariadb\n  Class:       azure-mysql\n  Plan:        basic50\n\n" +
				"Parameters:\nNo parameters defined\n",
		},
		"Undecided": {
			reason: "what is waited for is said; a type is no must",
			edit:   func(i *v1beta1.ServiceInstance) { i.Spec = v1beta1.ServiceInstanceSpec{} },
			want:   "  Name:        mydb\n  Namespace:   dev\n  Status:      Pending - no plan is decided on yet\n  Class:\n  Plan:\n\nParameters:\nNo parameters defined\n",
		},
		"Parameters": {
			reason: "what a null took away is not there, other nulls are; numbers keep their digits; Secrets are named only",
			edit: func(i *v1beta1.ServiceInstance) {
				i.Spec.Parameters = &runtime.RawExtension{Raw: []byte(`{"z": 9007199254740993, "gone": null, "null": null, "list": [{"a": 1}]}`)}
				i.Spec.ParametersFrom = []v1beta1.ParametersFromSource{{SecretKeyRef: &v1beta1.SecretKeyReference{Name: "extra", Key: "more"}}}
				i.Annotations = map[string]string{v1beta1.AnnotationAppliedDefaults: `{"rule":"named","removed":["/gone"]}`}
			},
			want: "  Name:        mydb\n  Namespace:   dev\n  Status:      Pending - no controller has seen it yet\n  Type:        mysql\n  Class:       azure-mysql\n  Plan:        basic50\n\n" +
				"Parameters:\n  list:\n  - a: 1\n  \"null\": null\n  z: 9007199254740993\n\nParameters From:\n  Secret: extra.more\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "mydb"}}
			instance.Spec.ServiceType = "mysql"
			instance.Spec.ClusterServiceClassExternalName, instance.Spec.ClusterServicePlanExternalName = "azure-mysql", "basic50"
			instance.Spec.ClusterServicePlanRef = &v1beta1.ClusterObjectReference{Name: "id"}
			tc.edit(instance)
			var out strings.Builder
			require.NoError(t, WriteInstance(&out, instance))
			assert.Equal(t, tc.want, out.String(), tc.reason)
		})
	}
}

func TestWriteBinding(t *testing.T) {
	t.Parallel()
	instance := &v1beta1.ServiceInstance{Spec: v1beta1.ServiceInstanceSpec{ServiceType: "mysql"}}
	cases := map[string]struct {
		reason   string
		ref      *v1beta1.InstanceReference
		instance *v1beta1.ServiceInstance
		secret   string
		want     string
	}{
		"OfItsInstance": {
			reason: "the type is the instance's", ref: &v1beta1.InstanceReference{Name: "mydb"}, instance: instance, secret: "creds",
			want: "  Type:        mysql\n  Instance:    mydb\n  Secret:      creds\n",
		},
		"OfAnotherNamespace": {
			reason: "an instance elsewhere is named with its namespace; without it no type is known", ref: &v1beta1.InstanceReference{Namespace: "shared", Name: "mydb"},
			want: "  Instance:    shared/mydb\n  Secret:      mydb-admin\n",
		},
		"OfNone": {reason: "a binding that asks for an instance of its own", want: "  Instance:    one of its own, not made yet\n  Secret:      mydb-admin\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			binding := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "mydb-admin"}}
			binding.Spec.InstanceRef, binding.Spec.SecretName = tc.ref, tc.secret
			var out strings.Builder
			require.NoError(t, WriteBinding(&out, binding, tc.instance))
			head := "  Name:        mydb-admin\n  Namespace:   dev\n  Status:      Pending - no controller has seen it yet\n"
			assert.Equal(t, head+tc.want+"\nParameters:\nNo parameters defined\n", out.String(), tc.reason)
		})
	}
}

func TestFullStatus(t *testing.T) {
	t.Parallel()
	at := " @ 0001-01-01 00:00:00 +0000 UTC"
	cases := map[string]struct {
		reason     string
		conditions []v1beta1.Condition
		want       string
	}{
		"None":    {reason: "nothing is known"},
		"Ready":   {reason: "Ready by its type", conditions: []v1beta1.Condition{v1beta1.Resolved("R", "x"), v1beta1.Ready("Done", "all is well.")}, want: "Ready - all is well" + at},
		"Waiting": {reason: "not ready by its reason", conditions: []v1beta1.Condition{v1beta1.Waiting("Provisioning", "the broker works"), v1beta1.Reconciling("R", "x")}, want: "Provisioning - the broker works" + at},
		"Failed":  {reason: "a failure before what is not ready", conditions: []v1beta1.Condition{v1beta1.NotReady("N", "x"), v1beta1.Failed("F", "it broke")}, want: "Failed - it broke" + at},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, fullStatus(tc.conditions), tc.reason)
		})
	}
}
