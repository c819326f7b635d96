package moving_test

import (
	"encoding/json"
	"maps"

	"github.com/stretchr/testify/require"

	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/osbtest"
)

// furnish has the brokers make what the old side is to have, as the retired catalog asked them
// to, and stores the objects.
func (h *house) furnish() {
	h.Helper()
	h.storesCatalog()
	space := string(h.uid())
	classes := map[string]string{}
	for _, i := range h.instances {
		classes[i.name] = i.class
		h.storesInstance(i, h.provisions(i, space))
	}
	for _, b := range h.bindings {
		operation, credentials := h.binds(b, classes[b.instance], space)
		h.storesBinding(b, operation, credentials)
	}
}

// broker is that of a class, and a client of it.
func (h *house) broker(class string) (*osbtest.Broker, *osb.Client) {
	h.Helper()
	broker, config := h.cluster, osb.Config{URL: h.cluster.URL, Auth: osb.Authentication{Username: username, Password: password}}
	if local(class) {
		broker, config = h.inhouse, osb.Config{URL: h.inhouse.URL}
	}
	client, err := osb.New(config)
	require.NoError(h, err)
	h.Cleanup(client.Close)
	return broker, client
}

// annAsks is the user for whom the retired catalog called.
var annAsks = &osb.Identity{Platform: "kubernetes", Value: osb.IdentityValue{Username: "ann", Groups: []string{"system:authenticated"}, Extra: map[string][]string{}}}

// told is the context of a call.
func (h *house) told(instance string) object {
	return object{"platform": "kubernetes", "namespace": h.old.Namespace, "clusterid": "old-cluster", "instance_name": instance}
}

// provisions has a broker make an instance up to its state, and returns the key of the
// operation that goes on.
func (h *house) provisions(i instance, space string) (operation string) {
	h.Helper()
	broker, client := h.broker(i.class)
	request := osb.ProvisionRequest{
		InstanceID: h.instanceID(i.name), ServiceID: h.Name(i.class), PlanID: h.Name(i.class + "-small"),
		Organization: "old-cluster", Space: space, Context: h.told(i.name), Parameters: h.parameters(i), Identity: annAsks,
	}
	goesOn := osbtest.AsyncDone(-1)
	switch i.state {
	case "Failed", "Undecided":
		return "" // nothing was made
	case "Adopted":
		broker.Add(osbtest.Instance{ID: request.InstanceID, ServiceID: request.ServiceID, PlanID: request.PlanID, Organization: "another", Space: "another"})
		return ""
	case "Provisioning":
		broker.Next(osbtest.Provision, goesOn)
	case "Mitigating":
		broker.Next(osbtest.Provision, osbtest.CutAfter())
	}
	response, err := client.Provision(h.Context(), request)
	if i.state == "Mitigating" {
		require.Error(h, err, "it is there, and the answer did not come")
		return ""
	}
	switch i.state {
	case "Updating":
		require.NoError(h, err)
		broker.Next(osbtest.Update, goesOn)
		response, err = client.Update(h.Context(), osb.UpdateRequest{
			InstanceID: request.InstanceID, ServiceID: request.ServiceID, Context: request.Context, Identity: annAsks,
			Parameters: json.RawMessage(`{"size":2}`), Previous: osb.PreviousValues{PlanID: request.PlanID, ServiceID: request.ServiceID},
		})
	case "Deprovisioning":
		require.NoError(h, err)
		broker.Next(osbtest.Deprovision, goesOn)
		response, err = client.Deprovision(h.Context(), osb.DeprovisionRequest{
			InstanceID: request.InstanceID, ServiceID: request.ServiceID, PlanID: request.PlanID, Identity: annAsks,
		})
	}
	require.NoError(h, err, i.name)
	return keyOf(response.Operation)
}

// binds has a broker make a binding up to its state, and returns the key of the operation that
// goes on, and its credentials.
func (h *house) binds(b binding, class, space string) (operation string, credentials object) {
	h.Helper()
	if b.state == "Failed" || b.state == "Waiting" {
		return "", nil // nothing was made
	}
	broker, client := h.broker(class)
	ids := osb.UnbindRequest{
		InstanceID: h.instanceID(b.instance), BindingID: h.bindingID(b.name), ServiceID: h.Name(class), PlanID: h.Name(class + "-small"), Identity: annAsks,
	}
	switch b.state {
	case "Binding":
		broker.Next(osbtest.Bind, osbtest.AsyncDone(-1))
	case "Mitigating":
		broker.Next(osbtest.Bind, osbtest.CutAfter())
	}
	binding, err := client.Bind(h.Context(), osb.BindRequest{
		InstanceID: ids.InstanceID, BindingID: ids.BindingID, ServiceID: ids.ServiceID, PlanID: ids.PlanID,
		AppGUID: space, Context: h.told(b.instance), Identity: annAsks,
	})
	if b.state == "Mitigating" {
		require.Error(h, err, "it is there, and the answer did not come")
		return "", nil
	}
	require.NoError(h, err, b.name)
	if b.state == "Binding" {
		return keyOf(binding.Operation), nil
	}
	credentials = broker.Bindings()[ids.BindingID].Credentials
	if b.state != "Unbinding" {
		return "", credentials
	}
	broker.Next(osbtest.Unbind, osbtest.AsyncDone(-1))
	unbinding, err := client.Unbind(h.Context(), ids)
	require.NoError(h, err)
	return keyOf(unbinding.Operation), credentials
}

func keyOf(operation *string) string {
	if operation == nil {
		return ""
	}
	return *operation
}

// parameters are those of an instance, with those of its Secret; nil for none.
func (h *house) parameters(i instance) json.RawMessage {
	h.Helper()
	all := map[string]json.RawMessage{}
	for _, text := range []string{i.parameters, i.secret} {
		some := map[string]json.RawMessage{}
		if text != "" {
			require.NoError(h, json.Unmarshal([]byte(text), &some))
		}
		maps.Copy(all, some)
	}
	if len(all) == 0 {
		return nil
	}
	content, err := json.Marshal(all)
	require.NoError(h, err)
	return content
}
