// Package parameters reads what a broker is sent: the parameters of an object, with those of
// its Secrets, checked against the plan's schemas. It redacts them from what the broker
// answers.
package parameters
