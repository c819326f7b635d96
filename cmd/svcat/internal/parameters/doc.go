// Package parameters reads the parameters that a command line gives to a new instance or
// binding.
//
// No error repeats a value: it may be secret. This is why commas are split here: the flag
// library quotes what it cannot split.
package parameters
