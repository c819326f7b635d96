// Package controllers_test has the scenarios of several controllers in one cluster: each
// handles the brokers that name it, and one looks into its namespaces only.
package controllers_test
