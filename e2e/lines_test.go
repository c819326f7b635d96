package e2e_test

import "sync"

// syncedLines are lines that several goroutines write.
type syncedLines struct {
	mu    sync.Mutex
	lines []string
}

func (s *syncedLines) add(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
}

// take returns the lines since the last time.
func (s *syncedLines) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.lines
	s.lines = nil
	return lines
}
