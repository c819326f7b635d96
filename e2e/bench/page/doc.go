// Package page writes what was measured into docs/performance.md: a block of one table for each part, and
// the curve of part scale as an SVG.
package page
