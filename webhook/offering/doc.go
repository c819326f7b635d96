// Package offering admits brokers and what they offer: classes, plans and service types. It keeps
// the default of a type to one plan.
package offering
