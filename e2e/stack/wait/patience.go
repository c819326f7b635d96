package wait

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// PatienceVariable names the environment variable that sets the factor of Patience,
// such as 4; without it the factor is measured once in each process.
const PatienceVariable = "DEFAULTPLAN_PATIENCE"

const (
	// sampleTime is what a sample takes on the idle machine on which the timeouts of
	// the scenarios were chosen.
	sampleTime  = 60 * time.Millisecond
	sampleSteps = 1 << 25
	// mostPatience bounds the factor that is measured.
	mostPatience = 16
)

// Patience scales a timeout that is generous on an idle machine to this machine as it
// was when the process asked first: twice as slow, twice as long, and never shorter
// than asked.
func Patience(timeout time.Duration) time.Duration {
	return time.Duration(float64(timeout) * patienceFactor())
}

var patienceFactor = sync.OnceValue(func() float64 {
	factor, err := patienceOf(os.Getenv(PatienceVariable), slowdown)
	if err != nil {
		fmt.Fprintln(os.Stderr, err, "- measuring it")
	}
	return factor
})

// patienceOf is the factor that text sets, and otherwise the measured one.
func patienceOf(text string, measure func() float64) (float64, error) {
	factor, err := strconv.ParseFloat(text, 64)
	if err == nil && factor >= 1 {
		return factor, nil
	}
	measured := min(max(measure(), 1), mostPatience)
	if text != "" {
		return measured, fmt.Errorf("%s=%q is not a number of at least 1", PatienceVariable, text)
	}
	return measured, nil
}

// slowdown is how many times longer than sampleTime a sample takes now, while every
// processor works on one.
func slowdown() float64 {
	start := time.Now()
	var samples sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		samples.Go(sample)
	}
	samples.Wait()
	return float64(time.Since(start)) / float64(sampleTime)
}

// sample writes pseudo-random numbers (xorshift) all over a table: work for the
// processor and for memory that no instruction set has a shortcut for. It takes as
// long with the race detector as without.
//
//go:norace
func sample() {
	table := make([]uint64, 1<<16)
	for state, step := uint64(1), 0; step < sampleSteps; step++ {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		table[state%uint64(len(table))] += state
	}
}
