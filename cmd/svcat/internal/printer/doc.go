// Package printer writes tables and lists of names and values in the layout that svcat
// has always used: column headers in capitals, a rule of +---+ below them, and two
// spaces around every cell. It sanitizes text from brokers and users first, so that
// nothing printed can control a terminal.
package printer
