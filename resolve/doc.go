// Package resolve chooses the class and the plan that a request means, and says why.
//
// Package resolve is pure: a request and a catalog go in as values, a Choice or an *Error comes out. It reads no
// clock, makes no call and logs nothing, so the webhook, the keeper, svcat and every replica of them agree. The same
// request and catalog give the same answer for every order of the catalog's entries.
//
// A scope is a value, never a second code path: it is a namespace, and the empty namespace is the cluster's.
package resolve
