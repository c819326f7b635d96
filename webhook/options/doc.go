// Package options has what an operator can set about admission: flags and feature gates.
package options
