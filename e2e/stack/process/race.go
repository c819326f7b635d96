package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// raceReport begins the report of the race detector. A process goes on after it.
const raceReport = "WARNING: DATA RACE"

// Races is an error with the first data race in each log in dir: those of all processes that were
// started there, also of those that were killed, unless GORACE has their reports elsewhere. It is
// nil if there was none.
func Races(dir string) error {
	logs, err := os.ReadDir(filepath.Join(dir, logsFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot look for data races: %w", err)
	}
	var races []error
	for _, log := range logs {
		path := filepath.Join(dir, logsFolder, log.Name())
		content, err := os.ReadFile(path)
		if err != nil {
			races = append(races, fmt.Errorf("cannot look for data races: %w", err))
			continue
		}
		if at := bytes.Index(content, []byte(raceReport)); at >= 0 {
			const most = 4096 // two stacks of it
			races = append(races, fmt.Errorf("%s has a data race:\n%s", path, content[at:min(at+most, len(content))]))
		}
	}
	return errors.Join(races...)
}
