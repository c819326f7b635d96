// Package bundle collects what support needs to know of an installation as one archive.
//
// What is in it is picked field by field: a field that no one thought of is left out. So no
// value of a parameter or Secret, no credential and no message of a broker or an admission
// plugin can be in it. Names that brokers gave to classes and plans are in it, made a line each.
// What cannot be read is listed in the archive's README.txt, and does not keep the rest from it.
package bundle
