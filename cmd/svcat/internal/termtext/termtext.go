// Package termtext sanitizes untrusted text before it is printed to a terminal.
package termtext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rune reports whether a terminal displays a character without acting on it: it is not
// a control character and does not reverse the direction of text. A line break does not
// count as displayable.
func Rune(r rune) bool {
	return r != '\u2028' && r != '\u2029' && (r == ' ' || unicode.IsGraphic(r))
}

// Is reports whether text is a single line of displayable characters.
func Is(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !Rune(r) }) < 0
}

// Line returns text as a single line of displayable characters. White space becomes a
// space, and every other character that a terminal would act on becomes U+FFFD, the
// replacement character.
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

// Short returns text as Line does, cut to at most that many characters, of which the last is
// then an ellipsis. Characters count, not places: marks that take no place would be without end.
func Short(text string, most int) string {
	text = Line(text)
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
