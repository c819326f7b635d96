// Package manifest reads the files of manifests that commands are given, for render and diff.
package manifest
