package get

import (
	"cmp"
	"strings"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/printer"
)

// filled is a table of rows with these columns. The cells of a row are by column, those
// of columns that the table does not have among them.
func filled[R any](rows []R, columns []string, cells func(row *R) map[string]string) *printer.Table {
	t := printer.New(columns...)
	for i := range rows {
		of, row := cells(&rows[i]), make([]string, len(columns))
		for j, column := range columns {
			row[j] = of[column]
		}
		t.Add(row...)
	}
	return t
}

// shortDescription is how many letters of a description tables show that are not
// wide: SCOPE stands behind it.
const shortDescription = 80

// short is a description in at most shortDescription letters, cut between words
// where it can be.
func short(description string) string {
	letters := []rune(description)
	if len(letters) <= shortDescription {
		return description
	}
	cut := string(letters[:shortDescription-1])
	if i := strings.LastIndexByte(cut, ' '); i > 0 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,.;:") + "…"
}

// descriptionIn is a description as a layout shows it.
func descriptionIn(layout, description string) string {
	if layout == layoutTable {
		return short(description)
	}
	return description
}

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// byType orders types by name; none comes last, so that a catalog that is typed in
// part begins with that part.
func byType(a, b string) int {
	if (a == "") != (b == "") {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}
