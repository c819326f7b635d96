package osb

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// maxDescription is the most characters of a broker's text that are kept, maxWords
	// those of a body that is no error of the specification, maxCause those of a
	// transport's, and maxName those of a name or an error code.
	maxDescription = 1024
	maxWords       = 256
	maxCause       = 256
	maxName        = 128
	// ellipsis ends a text that was cut.
	ellipsis = "…"
)

// Printable makes one line of at most so many characters out of a text that others
// wrote. White space of any length, line breaks and control characters become one
// space; what does not show or turns the writing direction around is left out; bytes
// that are not UTF-8 become the replacement character. A text that was cut ends in
// an ellipsis.
func Printable(text string, most int) string {
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
	return string(runes) + ellipsis
}

// WrittenForms are how a text may be written within another, the longest first: as it is, as JSON with more or fewer
// characters escaped, for HTML and for URLs, and each of these on one line, as the client prints it.
func WrittenForms(text string) []string {
	forms := []string{text, html.EscapeString(text), url.QueryEscape(text), url.PathEscape(text)}
	for _, escape := range []bool{true, false} {
		var encoded bytes.Buffer
		encoder := json.NewEncoder(&encoded)
		encoder.SetEscapeHTML(escape)
		_ = encoder.Encode(text) //nolint:errchkjson // any text can be encoded
		line := strings.TrimSpace(encoded.String())
		line = line[1 : len(line)-1]
		forms = append(forms, line, strings.ReplaceAll(line, "/", `\/`), inASCII(line), inASCII(strings.ReplaceAll(line, "/", `\/`)))
	}
	for _, form := range forms {
		forms = append(forms, Printable(form, len(form)+1))
	}
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.Compact(forms)
}

// inASCII escapes what is not ASCII, as JSON may.
func inASCII(text string) string {
	var all strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		if unit < utf8.RuneSelf {
			all.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(&all, `\u%04x`, unit)
		}
	}
	return all.String()
}
