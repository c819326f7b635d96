// Package plans has the commands with which an operator changes classes and plans: set,
// which also switches the default plan of a type atomically, and create.
//
// An interrupted command leaves no partial change that takes effect. set writes its
// fields in one request. A switch takes effect with one write to the type's record, and
// the keeper completes the steps that follow. create makes the plans of a class before
// the class: no plan can be chosen until its class exists, and create removes the plans
// again if it cannot make the class.
package plans
