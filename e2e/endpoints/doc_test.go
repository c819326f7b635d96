// Package endpoints_test tries what becomes of a broker's endpoints on a real API server,
// with the controller as it is built, its own rights and the policies that are shipped:
// Services, EndpointSlices and ConfigMaps beside Secrets; and the attacks on them.
package endpoints_test
