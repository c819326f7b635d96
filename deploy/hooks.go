package deploy

// The hooks call the webhook for what it decides and for nothing else. An
// instance is sent to it when it is created, when its spec or an annotation
// that admission owns changes, and while it is undecided and not being deleted
// (that is how a touch by the keeper reaches admission). Hence two promises
// that hold even when the webhook is down: taking a finalizer off an object
// that is being deleted passes, because spec is unchanged, and so does a label
// write to a decided object. A changed spec of a terminating object is still
// sent: it stays guarded.
//
// controller-gen has no marker for matchConditions and the selectors, so they
// come as a patch, and with them every field that the API server would fill
// in: what is in the file is what is in the cluster, for whoever compares them.
// Both halves have the same condition; a test holds them to it.
//
// +kubebuilder:webhookconfiguration:mutating=true,name=defaultplan-webhook
// +kubebuilder:webhookconfiguration:mutating=false,name=defaultplan-webhook
//
// +kubebuilder:webhook:mutating=true,name=mutate.serviceinstances.servicecatalog.k8s.io,path=/mutate/serviceinstances,groups=servicecatalog.k8s.io,versions=v1beta1,resources=serviceinstances,verbs=create;update,serviceName=defaultplan-webhook,serviceNamespace=defaultplan-system,servicePort=443,admissionReviewVersions=v1,sideEffects=None,failurePolicy=fail,matchPolicy=Equivalent,reinvocationPolicy=Never,timeoutSeconds=5,patch=`{"namespaceSelector":{},"objectSelector":{},"rules":[{"apiGroups":["servicecatalog.k8s.io"],"apiVersions":["v1beta1"],"operations":["CREATE","UPDATE"],"resources":["serviceinstances"],"scope":"Namespaced"}],"matchConditions":[{"name":"has-something-to-decide","expression":"request.operation == 'CREATE' || object.?spec != oldObject.?spec || object.metadata.?annotations[?'servicecatalog.kubernetes.io/applied-defaults'] != oldObject.metadata.?annotations[?'servicecatalog.kubernetes.io/applied-defaults'] || object.metadata.?annotations[?'servicecatalog.kubernetes.io/minted-external-id'] != oldObject.metadata.?annotations[?'servicecatalog.kubernetes.io/minted-external-id'] || (!has(object.metadata.deletionTimestamp) && object.?spec.?clusterServicePlanRef.?name.orValue('') == '' && object.?spec.?servicePlanRef.?name.orValue('') == '')"}]}`
// +kubebuilder:webhook:mutating=false,name=validate.serviceinstances.servicecatalog.k8s.io,path=/validate/serviceinstances,groups=servicecatalog.k8s.io,versions=v1beta1,resources=serviceinstances,verbs=create;update,serviceName=defaultplan-webhook,serviceNamespace=defaultplan-system,servicePort=443,admissionReviewVersions=v1,sideEffects=None,failurePolicy=fail,matchPolicy=Equivalent,timeoutSeconds=5,patch=`{"namespaceSelector":{},"objectSelector":{},"rules":[{"apiGroups":["servicecatalog.k8s.io"],"apiVersions":["v1beta1"],"operations":["CREATE","UPDATE"],"resources":["serviceinstances"],"scope":"Namespaced"}],"matchConditions":[{"name":"has-something-to-decide","expression":"request.operation == 'CREATE' || object.?spec != oldObject.?spec || object.metadata.?annotations[?'servicecatalog.kubernetes.io/applied-defaults'] != oldObject.metadata.?annotations[?'servicecatalog.kubernetes.io/applied-defaults'] || object.metadata.?annotations[?'servicecatalog.kubernetes.io/minted-external-id'] != oldObject.metadata.?annotations[?'servicecatalog.kubernetes.io/minted-external-id'] || (!has(object.metadata.deletionTimestamp) && object.?spec.?clusterServicePlanRef.?name.orValue('') == '' && object.?spec.?servicePlanRef.?name.orValue('') == '')"}]}`
