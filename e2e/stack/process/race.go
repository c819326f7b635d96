package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// raceReport begins the report of the race detector. A process goes on after it.
const raceReport = "WARNING: DATA RACE"

// Races is an error with the first data race in each log in dir: those of all processes that were
// started there, also of those that were killed. It is nil if there was none.
func Races(dir string) error {
	logs, err := filepath.Glob(LogFile(dir, "*"))
	if err != nil {
		return fmt.Errorf("cannot find the logs: %w", err)
	}
	var races []error
	for _, log := range logs {
		content, err := os.ReadFile(log)
		if err != nil {
			races = append(races, fmt.Errorf("cannot look for data races: %w", err))
			continue
		}
		if at := bytes.Index(content, []byte(raceReport)); at >= 0 {
			const most = 4096 // two stacks of it
			races = append(races, fmt.Errorf("%s has a data race:\n%s", log, content[at:min(at+most, len(content))]))
		}
	}
	return errors.Join(races...)
}
