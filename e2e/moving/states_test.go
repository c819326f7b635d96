package moving_test

// everyInstance is an instance of every state that the retired catalog stored, and of each kind
// of class. The reasons are those that svcat import gives for what stays.
var everyInstance = []instance{
	{name: "orders", class: "open", state: "Ready", parameters: `{"note":"a&b<c>","big":9007199254740993}`, secret: `{"ratio":1.5,"token":"canary-of-parameters"}`, moved: "Adopted"},
	{name: "plain", class: "shut", state: "Ready", parameters: `{"size":1}`, moved: "AdoptedOnTrust"},
	{name: "local", class: "local", state: "Ready", moved: "Adopted"},
	{name: "kept", class: "open", state: "Adopted", moved: "Adopted"},
	{name: "copied", class: "open", state: "Ready", copied: true, moved: "Adopted"},
	{name: "busy", class: "open", state: "Ready", moved: "Adopted", bound: true},
	{name: "growing", class: "open", state: "Provisioning", why: "in the middle of an operation (Provision)"},
	{name: "resizing", class: "open", state: "Updating", why: "in the middle of an operation (Update)"},
	{name: "broken", class: "open", state: "Failed", why: "it failed"},
	{name: "doubtful", class: "open", state: "Mitigating", why: "what a failed request left at the broker is being removed"},
	{name: "leaving", class: "open", state: "Deprovisioning", why: "it is being deleted"},
	{name: "stuck", class: "open", state: "UpdateFailed", why: "it is not Ready: UpdateInstanceCallFailed"},
	{name: "clinging", class: "open", state: "DeprovisionFailed", why: "it is being deleted"},
	{name: "early", class: "open", state: "Undecided", why: "no plan was decided on"},
}

// everyBinding is the same of bindings.
var everyBinding = []binding{
	{name: "orders-reader", instance: "orders", state: "Ready", moved: "Adopted"},
	{name: "orders-renamed", instance: "orders", state: "Ready", renamed: true, moved: "Adopted"},
	{name: "plain-reader", instance: "plain", state: "Ready", moved: "AdoptedOnTrust"},
	{name: "plain-renamed", instance: "plain", state: "Ready", renamed: true, moved: "AdoptedOnTrust"},
	{name: "local-reader", instance: "local", state: "Ready", moved: "Adopted"},
	{name: "busy-broken", instance: "busy", state: "Failed", why: "it failed"},
	{name: "busy-growing", instance: "busy", state: "Binding", why: "in the middle of an operation (Bind)"},
	{name: "busy-doubtful", instance: "busy", state: "Mitigating", why: "what a failed request left at the broker is being removed"},
	{name: "busy-leaving", instance: "busy", state: "Unbinding", why: "it is being deleted"},
	{name: "growing-reader", instance: "growing", state: "Waiting", why: "it is not Ready: ErrorInstanceNotReady"},
}
