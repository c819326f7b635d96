// Package resolvetest writes catalogs and requests for tests in rows that fit on a line.
//
// What it returns is built anew by each call and shared with nobody, so that tests may change it.
package resolvetest
