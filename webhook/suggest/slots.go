package suggest

// Instances lists the instances of a namespace.
func Instances(namespace string) Ways {
	return Ways{"svcat get instances" + scopeOf(namespace).svcat, "kubectl get -n " + namespace + " serviceinstances"}
}

// Bindings lists the bindings of a namespace.
func Bindings(namespace string) Ways {
	return Ways{"svcat get bindings" + scopeOf(namespace).svcat, "kubectl get -n " + namespace + " servicebindings"}
}
