package attacks_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	api "github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/e2e/env"
)

// TestAddressesOfBrokers: a namespace's broker does not lead the controller to where only
// it can reach, in whatever form the address is written. Loopback itself is the tests'
// exception.
func TestAddressesOfBrokers(t *testing.T) {
	t.Parallel()
	e := env.New(t)
	for name, tc := range map[string]struct{ url, says string }{
		"metadata":  {url: "http://169.254.169.254", says: "169.254.169.254 is that of a cloud's metadata service"},
		"nat64":     {url: "http://[64:ff9b::a9fe:a9fe]", says: "is that of a cloud's metadata service"},
		"sixtofour": {url: "http://[2002:a9fe:a9fe::1]", says: "is that of a cloud's metadata service"},
		"api":       {url: "https://10.0.0.1", says: "10.0.0.1 is the API server's"},
		"kubelet":   {url: "https://203.0.113.7:10250", says: "is asked for at port 10250, which is the kubelets'"},
		"closed":    {url: "http://198.51.100.9", says: "198.51.100.9 is within the cluster"},
		"itself":    {url: "http://0.0.0.0", says: "is a loopback address"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := e.In(t)
			broker := &api.ServiceBroker{ObjectMeta: e.Meta(name)}
			broker.Spec.URL = tc.url
			e.Create(broker)
			said := e.HasCondition(broker, api.ConditionReady, api.ConditionFalse, "ErrorFetchingCatalog")
			assert.Contains(t, said.Message, tc.says)
			assert.Contains(t, said.Message, "a ServiceBroker cannot be there, unless the operator allows it (--allow-broker-addresses)")
		})
	}
}
