package v1beta1

import "maps"

// brokerCases are the rules of brokers.
func brokerCases() map[string]ruleCase {
	both := brokerFieldCases()
	maps.Copy(both, urlCases())
	maps.Copy(both, relistCases())
	cases := of("servicebrokers", both)
	maps.Copy(cases, of("clusterservicebrokers", both))
	maps.Copy(cases, of("servicebrokers", map[string]ruleCase{
		"BasicName":  {reason: "no Secret has it", spec: `{url: "http://b", authInfo: {basic: {secretRef: {name: A_b}}}}`, field: "spec.authInfo.basic.secretRef.name", words: "should match"},
		"BearerName": {reason: "no Secret has it", spec: `{url: "http://b", authInfo: {bearer: {secretRef: {name: a.}}}}`, field: "spec.authInfo.bearer.secretRef.name", words: "should match"},
		"Auth":       {reason: "a name", spec: `{url: "http://b", authInfo: {basic: {secretRef: {name: s.v2}}}}`},
	}))
	maps.Copy(cases, of("clusterservicebrokers", map[string]ruleCase{
		"BasicNoNamespace": {
			reason: "a Secret is in a namespace", spec: `{url: "http://b", authInfo: {basic: {secretRef: {name: s}}}}`,
			field: "spec.authInfo.basic", words: "secretRef.namespace and secretRef.name are required",
		},
		"BearerNoNamespace": {
			reason: "a Secret is in a namespace", spec: `{url: "http://b", authInfo: {bearer: {secretRef: {name: s}}}}`,
			field: "spec.authInfo.bearer", words: "secretRef.namespace and secretRef.name are required",
		},
		"BasicNamespace": {
			reason: "no namespace has it", spec: `{url: "http://b", authInfo: {basic: {secretRef: {namespace: a.b, name: s}}}}`,
			field: "spec.authInfo.basic.secretRef.namespace", words: "should match",
		},
		"BearerNamespace": {
			reason: "no namespace has it", spec: `{url: "http://b", authInfo: {bearer: {secretRef: {namespace: a.b, name: s}}}}`,
			field: "spec.authInfo.bearer.secretRef.namespace", words: "should match",
		},
		"BasicName": {
			reason: "no Secret has it", spec: `{url: "http://b", authInfo: {basic: {secretRef: {namespace: x, name: A_b}}}}`,
			field: "spec.authInfo.basic.secretRef.name", words: "should match",
		},
		"BearerName": {
			reason: "no Secret has it", spec: `{url: "http://b", authInfo: {bearer: {secretRef: {namespace: x, name: a.}}}}`,
			field: "spec.authInfo.bearer.secretRef.name", words: "should match",
		},
		"Auth": {reason: "a whole reference", spec: `{url: "http://b", authInfo: {basic: {secretRef: {namespace: x, name: s}}}}`},
	}))
	return cases
}

func brokerFieldCases() map[string]ruleCase {
	return map[string]ruleCase{
		"NameAdded": {
			reason: "another controller would take it over", old: `{url: "http://b"}`, spec: `{url: "http://b", controllerName: other}`,
			field: "spec.controllerName", words: "controllerName cannot change",
		},
		"NameRemoved": {
			reason: "another controller would take it over", old: `{url: "http://b", controllerName: other}`, spec: `{url: "http://b"}`,
			field: "spec.controllerName", words: "controllerName cannot change",
		},
		"NameKept": {reason: "an empty name is none", old: `{url: "http://b", controllerName: ""}`, spec: `{url: "http://c"}`},
		"BundleAndInsecure": {
			reason: "one says verify, one says do not", spec: `{url: "http://b", insecureSkipTLSVerify: true, caBundle: UEVN}`,
			field: "spec.caBundle", words: "cannot be used when insecureSkipTLSVerify is true",
		},
		"Bundle":    {reason: "verified", spec: `{url: "http://b", insecureSkipTLSVerify: false, caBundle: UEVN}`},
		"BadBundle": {reason: "Go would not read it", spec: `{url: "http://b", caBundle: "UEV"}`, field: "spec.caBundle", words: "should match"},
		"EmptyAuth": {reason: "neither is set", spec: `{url: "http://b", authInfo: {}}`, field: "spec.authInfo", words: "needs basic or bearer"},
		"BasicNoSecret": {
			reason: "no Secret", spec: `{url: "http://b", authInfo: {basic: {}}}`, field: "spec.authInfo.basic", words: "name the Secret with the keys username and password",
		},
		"BearerNoSecret": {
			reason: "no Secret", spec: `{url: "http://b", authInfo: {bearer: {secretRef: {name: ""}}}}`,
			field: "spec.authInfo.bearer", words: "name the Secret with the key token",
		},
		"BadSuffix":   {reason: "it becomes part of names", spec: `{url: "http://b", nameSuffix: -a}`, field: "spec.nameSuffix", words: "should match"},
		"EmptySuffix": {reason: "an empty suffix is none", spec: `{url: "http://b", nameSuffix: "", relistBehavior: ""}`},
	}
}

// urlCases are the rules of spec.url. The retired catalog took any text, and
// failed at the first request.
func urlCases() map[string]ruleCase {
	const words = "url must be an http or https address with a host"
	return map[string]ruleCase{
		"NoURL":       {reason: "nothing to call", spec: `{relistBehavior: Manual}`, field: "spec.url", words: "Required"},
		"EmptyURL":    {reason: "nothing to call", spec: `{url: ""}`, field: "spec.url", words: "at least 1"},
		"HostOnly":    {reason: "no scheme", spec: `{url: broker.example.com}`, field: "spec.url", words: words},
		"HostAndPort": {reason: "the host would be the scheme", spec: `{url: "broker:8080"}`, field: "spec.url", words: words},
		"OtherScheme": {reason: "brokers speak HTTP", spec: `{url: "ftp://broker"}`, field: "spec.url", words: words},
		"NoHost":      {reason: "the URL has no host", spec: `{url: "https:///v2"}`, field: "spec.url", words: words},
		"PortOnly":    {reason: "the URL has no host", spec: `{url: "http://:80"}`, field: "spec.url", words: words},
		"Space":       {reason: "copied with what was before it", spec: `{url: " http://broker"}`, field: "spec.url", words: words},
		"PathAndPort": {reason: "a broker may be behind a path", spec: `{url: "http://broker.brokers.svc:8080/osb/"}`},
		"UpperCase":   {reason: "a scheme has no case", spec: `{url: "HTTPS://broker"}`},
		"BareAddress": {reason: "an address of the cluster", spec: `{url: "http://[fd00::1]:80"}`},
	}
}

// relistCases are the rules of when a catalog is fetched again.
func relistCases() map[string]ruleCase {
	const seven = `{url: "http://b", relistRequests: 7}`
	return map[string]ruleCase{
		"ZeroDuration": {reason: "it would never rest", spec: `{url: "http://b", relistDuration: 0s}`, field: "spec.relistDuration", words: "must be more than nothing"},
		"LongDuration": {reason: "no Go client could read any list with it", spec: `{url: "http://b", relistDuration: 99999999999999999h}`, field: "spec", words: "must be more than nothing"},
		"BadDuration":  {reason: "Go would not read it", spec: `{url: "http://b", relistDuration: 1d}`, field: "spec.relistDuration", words: "should match"},
		"BadBehavior":  {reason: "not a behaviour", spec: `{url: "http://b", relistBehavior: Often}`, field: "spec.relistBehavior", words: "Manual"},
		"Negative":     {reason: "a counter", spec: `{url: "http://b", relistRequests: -1}`, field: "spec.relistRequests", words: "greater than or equal to 0"},
		"Decreased": {
			reason: "it would not be seen as a request", old: seven, spec: `{url: "http://b", relistRequests: 6}`,
			field: "spec.relistRequests", words: "cannot go back",
		},
		"Increased": {reason: "a request", old: seven, spec: `{url: "http://b", relistRequests: 8}`},
		"Zero":      {reason: "an old client's zero is not set: admission restores", old: seven, spec: `{url: "http://b", relistRequests: 0}`},
		"Absent":    {reason: "not set: admission restores", old: seven, spec: `{url: "http://b"}`},
	}
}
