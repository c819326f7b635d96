package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
)

// A level is how bad a finding is.
type level string

const (
	levelOK      level = "ok"
	levelWarning level = "warning"
	levelFailed  level = "failed"
	// levelUnknown is what could not be looked at, mostly for want of rights.
	levelUnknown level = "unknown"
)

// A finding is what one look found.
type finding struct {
	// Check is what was looked at, in one word.
	Check   string `json:"check"`
	Level   level  `json:"level"`
	Message string `json:"message"`
	// Do is the way out: a command, or what to see to. Empty where all is well.
	Do string `json:"do,omitempty"`
	// Partly says that only a part could be looked at, for want of rights.
	Partly bool `json:"partly,omitempty"`
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

func unknownf(check, do, format string, args ...any) finding {
	return finding{Check: check, Level: levelUnknown, Message: fmt.Sprintf(format, args...), Do: do}
}

// unread is the finding about what could not be read.
func unread(check, what string, err error) finding {
	switch {
	case apierrors.IsForbidden(err):
		return unknownf(check, "ask a user who may, such as an administrator, to look", "not looked at: you may not read %s", what)
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return unknownf(check, "see to the definitions first", "not looked at: %s are not served", what)
	}
	return failedf(check, "look again; if it stays, look at the API server", "cannot read %s: %s", what, err)
}

// A report is all findings of one round.
type report struct {
	// Whole says that everything was looked at, and nothing failed.
	Whole    bool      `json:"whole"`
	Findings []finding `json:"findings"`
}

func reportOf(findings []finding) report {
	r := report{Whole: true, Findings: findings}
	for _, f := range findings {
		r.Whole = r.Whole && f.Level != levelFailed && f.Level != levelUnknown && !f.Partly
	}
	return r
}

// passes says whether the exit code is 0: nothing failed, and what everything else stands
// on was looked at.
func (r *report) passes() bool { return len(r.failed()) == 0 && len(r.unproven()) == 0 }

// unproven are the checks that were not made of those that must be.
func (r *report) unproven() []string {
	var checks []string
	for _, f := range r.Findings {
		if f.Level == levelUnknown && (f.Check == definitionsCheck || f.Check == admissionCheck) {
			checks = append(checks, f.Check)
		}
	}
	return checks
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
	text := r.verdict(count[levelFailed])
	if n := count[levelUnknown]; n > 0 && len(r.unproven()) == 0 {
		text += fmt.Sprintf(", %d not looked at", n)
	}
	switch count[levelWarning] {
	case 0:
		return text
	case 1:
		return text + ", 1 warning"
	}
	return text + fmt.Sprintf(", %d warnings", count[levelWarning])
}

// verdict is whether the installation is whole, as far as that is known.
func (r *report) verdict(failed int) string {
	unproven := r.unproven()
	switch {
	case failed > 0:
		return fmt.Sprintf("the installation is not whole: %d failed", failed)
	case len(unproven) > 0:
		return fmt.Sprintf("it is not known whether the installation is whole: not looked at: %s", strings.Join(unproven, ", "))
	case !r.Whole:
		return "as far as it was looked at, the installation is whole"
	}
	return "the installation is whole"
}
