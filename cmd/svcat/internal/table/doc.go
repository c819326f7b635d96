// Package table writes tables, and lists of names and values, as svcat always
// looked: a rule of +---+ under a header in capitals, and two spaces around every
// cell. What brokers and users wrote is made harmless to terminals first.
package table
