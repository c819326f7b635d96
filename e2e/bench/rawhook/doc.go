// Package rawhook serves what admission is measured against: hooks that decode a review and allow.
package rawhook
