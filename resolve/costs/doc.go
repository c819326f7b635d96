// Package costs reads what plans cost: the metadata.costs of a broker's catalog, as exact
// decimals. It is pure. Costs that are malformed, even one of them, are an error: nothing
// is guessed, because a policy may depend on it.
package costs
