// Package options has what an operator can set about the controllers: their flags.
package options
