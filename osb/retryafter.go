package osb

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// LongestWait is the longest that a broker can ask to wait.
const LongestWait = 24 * time.Hour

// retryAfter is how long the response asks to wait: seconds, or a date, which is
// measured by the response's own clock if it shows one. Within [0, LongestWait]; 0 where
// nothing was asked for, or nothing that can be read.
func retryAfter(header http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, LongestWait)
	} else if errors.Is(err, strconv.ErrRange) {
		return LongestWait
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date
	}
	return min(max(until.Sub(now), 0), LongestWait)
}
