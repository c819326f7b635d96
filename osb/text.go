package osb

import (
	"strings"
	"unicode"
)

const (
	// maxDescription is the most characters of a broker's text that are kept, maxCause
	// those of a transport's, and maxName those of a name or an error code.
	maxDescription = 1024
	maxCause       = 256
	maxName        = 128
)

// printable makes one line of at most so many characters out of a text that others
// wrote. White space of any length, line breaks and control characters become one
// space; what does not show or turns the writing direction around is left out; bytes
// that are not UTF-8 become the replacement character. A text that was cut ends in
// an ellipsis.
func printable(text string, most int) string {
	var line strings.Builder
	length, gap := 0, false
	for _, r := range text {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			gap = length > 0
			continue
		}
		if !unicode.IsPrint(r) {
			continue
		}
		// Room for the gap and the character, and never beyond the bound.
		if length+1 > most || gap && length+2 > most {
			return cut(line.String(), most)
		}
		if gap {
			line.WriteByte(' ')
			length, gap = length+1, false
		}
		line.WriteRune(r)
		length++
	}
	return line.String()
}

// cut ends a text that goes on in an ellipsis, within the bound.
func cut(line string, most int) string {
	runes := []rune(line)
	if len(runes) >= most {
		runes = runes[:most-1]
	}
	return string(runes) + "…"
}
