// Package catalog has the classes, plans and types that admission is measured with.
package catalog
