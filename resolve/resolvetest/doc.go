// Package resolvetest writes catalogs and requests for tests in rows that fit on a line.
//
// Each call builds new values and keeps no reference to them, so tests may
// change what it returns.
package resolvetest
