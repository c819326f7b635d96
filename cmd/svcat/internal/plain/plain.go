// Package plain keeps what brokers and other people wrote from steering a terminal.
package plain

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rune says whether a terminal only shows a character: it is no control character, and
// turns no text around. A line's end is no such character.
func Rune(r rune) bool {
	return r != '\u2028' && r != '\u2029' && (r == ' ' || unicode.IsGraphic(r))
}

// Is says whether text is one line of such characters.
func Is(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !Rune(r) }) < 0
}

// Line is text as one line of such characters. White space becomes a space, anything
// else that a terminal would obey the sign for a character that cannot be shown.
func Line(text string) string {
	if Is(text) {
		return text
	}
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case Rune(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return unicode.ReplacementChar
	}, text)), " ")
}
