// Package measure compares what two sides cost, in turns, and judges the ratios by goals.
package measure
