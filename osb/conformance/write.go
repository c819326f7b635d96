package conformance

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
)

// Formats are those that Write knows.
func Formats() []string { return []string{"table", "json", "junit"} }

// Write prints a report in a format. In strict reports a broken SHOULD is a failure, too.
func Write(w io.Writer, report *Report, format string, strict bool) error {
	switch format {
	case "json":
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	case "junit":
		return writeJUnit(w, report, strict)
	default:
		return writeTable(w, report)
	}
}

func writeTable(w io.Writer, report *Report) error {
	rows := []string{"RULE\tLEVEL\tOUTCOME\tREQUIRES\n"}
	for _, result := range report.Results {
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%s\n", result.ID, result.Level, result.Outcome, result.Requires))
		for _, detail := range result.Details {
			rows = append(rows, "\t\t\t  "+printable(detail)+"\n")
		}
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, err := io.WriteString(table, strings.Join(rows, ""))
	err = errors.Join(err, table.Flush())
	var end strings.Builder
	for _, left := range report.Leftovers {
		end.WriteString("left over: " + printable(left) + "\n")
	}
	fmt.Fprintf(&end, "\n%s, API %s: %d kept, %d broken, %d not seen\n",
		report.Subject, report.APIVersion, report.Count(Kept), report.Count(Broken), report.Count(NotSeen))
	_, written := io.WriteString(w, end.String())
	return errors.Join(err, written)
}

// printable is a text that may hold IDs of the other side, which make no row and steer no terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitMessage `xml:"failure,omitempty"`
	Skipped *junitMessage `xml:"skipped,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
}

// writeJUnit has a broken MUST as a failure. A broken SHOULD is skipped with what was seen, unless it
// counts: JUnit knows no warning.
func writeJUnit(w io.Writer, report *Report, strict bool) error {
	suite := junitSuite{Name: fmt.Sprintf("osb-conformance %s %s", report.Subject, report.APIVersion)}
	add := func(name string, failure, skipped *junitMessage) {
		suite.Tests++
		if failure != nil {
			suite.Failures++
		}
		if skipped != nil {
			suite.Skipped++
		}
		suite.Cases = append(suite.Cases, junitCase{Class: string(report.Subject), Name: name, Failure: failure, Skipped: skipped})
	}
	for _, result := range report.Results {
		message := &junitMessage{string(result.Outcome) + ": " + strings.Join(result.Details, "; ")}
		name := result.ID + " " + result.Requires
		switch {
		case result.Outcome == Kept:
			add(name, nil, nil)
		case result.Outcome == Broken && (strict || result.Level == Must):
			add(name, message, nil)
		default:
			add(name, nil, message)
		}
	}
	for _, left := range report.Leftovers {
		add("left over: "+left, &junitMessage{"it could not be removed"}, nil)
	}
	text, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot encode as JUnit: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}
