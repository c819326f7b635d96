// Package manifest takes files of manifests apart into their objects.
package manifest
