package check

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// A level is how bad a finding is.
type level string

const (
	levelOK      level = "ok"
	levelWarning level = "warning"
	levelFailed  level = "failed"
)

// A finding is what one look found.
type finding struct {
	// Check is what was looked at, in one word.
	Check   string `json:"check"`
	Level   level  `json:"level"`
	Message string `json:"message"`
	// Do is the way out: a command, or what to see to. Empty where all is well.
	Do string `json:"do,omitempty"`
}

func okf(check, format string, args ...any) finding {
	return finding{Check: check, Level: levelOK, Message: fmt.Sprintf(format, args...)}
}

func warningf(check, do, format string, args ...any) finding {
	return finding{Check: check, Level: levelWarning, Message: fmt.Sprintf(format, args...), Do: do}
}

func failedf(check, do, format string, args ...any) finding {
	return finding{Check: check, Level: levelFailed, Message: fmt.Sprintf(format, args...), Do: do}
}

// A report is all findings of one round.
type report struct {
	Whole    bool      `json:"whole"`
	Findings []finding `json:"findings"`
}

func reportOf(findings []finding) report {
	r := report{Whole: true, Findings: findings}
	for _, f := range findings {
		r.Whole = r.Whole && f.Level != levelFailed
	}
	return r
}

// failed are the findings that keep the installation from being whole.
func (r *report) failed() []finding {
	var failed []finding
	for _, f := range r.Findings {
		if f.Level == levelFailed {
			failed = append(failed, f)
		}
	}
	return failed
}

// print writes a line for each finding, with what to do below it, or JSON.
func (r *report) print(w io.Writer, output string) error {
	if output == "json" {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	text := &strings.Builder{}
	for _, f := range r.Findings {
		fmt.Fprintf(text, "%-8s %-13s %s\n", f.Level, f.Check, strings.ReplaceAll(f.Message, "\n", "\n"+margin))
		if f.Do != "" {
			text.WriteString(margin + "→ " + f.Do + "\n")
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// margin is as wide as what stands before a message.
const margin = "                       "

// summary says what was found in one line.
func (r *report) summary() string {
	count := map[level]int{}
	for _, f := range r.Findings {
		count[f.Level]++
	}
	text := "the installation is whole"
	if !r.Whole {
		text = fmt.Sprintf("the installation is not whole: %d failed", count[levelFailed])
	}
	switch count[levelWarning] {
	case 0:
		return text
	case 1:
		return text + ", 1 warning"
	}
	return text + fmt.Sprintf(", %d warnings", count[levelWarning])
}
