// Package manifest applies the shipped manifests, those of the folder deploy.
package manifest
