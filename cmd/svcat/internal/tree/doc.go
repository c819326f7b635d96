// Package tree has the command that shows what belongs to what: svcat tree.
package tree
