// Package table writes tables, and lists of names and values, as svcat always
// looked.
package table
