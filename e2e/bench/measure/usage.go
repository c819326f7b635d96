package measure

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Usage is the processor time of processes, by their names.
type Usage map[string]time.Duration

// UsedBy is what each process has used until now; pid tells its id.
func UsedBy(pid func(name string) (int, error), names ...string) (Usage, error) {
	used := Usage{}
	for _, name := range names {
		id, err := pid(name)
		if err != nil {
			return nil, err
		}
		if used[name], err = CPU(id); err != nil {
			return nil, err
		}
	}
	return used, nil
}

// Since is what was used since an earlier Usage of the same processes.
func (u Usage) Since(before Usage) Usage {
	since := Usage{}
	for name, used := range u {
		since[name] = used - before[name]
	}
	return since
}

// Total is the processor time of all.
func (u Usage) Total() time.Duration {
	var total time.Duration
	for _, used := range u {
		total += used
	}
	return total
}

// Each is the usage divided by count.
func (u Usage) Each(count int) Usage {
	each := Usage{}
	for name, used := range u {
		each[name] = used / time.Duration(count)
	}
	return each
}

// Median is the median for each process.
func Median(all []Usage) Usage {
	of := map[string][]float64{}
	for _, u := range all {
		for name, used := range u {
			of[name] = append(of[name], float64(used))
		}
	}
	median := Usage{}
	for name, each := range of {
		median[name] = time.Duration(Quantile(each, .5))
	}
	return median
}

// Words tell what each used in the form that word gives it, the most first.
func (u Usage) Words(word func(time.Duration) string) string {
	names := slices.SortedFunc(maps.Keys(u), func(a, b string) int {
		return cmp.Or(cmp.Compare(u[b], u[a]), cmp.Compare(a, b))
	})
	for i, name := range names {
		names[i] = strings.TrimSuffix(name, "-0") + " " + word(u[name])
	}
	return strings.Join(names, ", ")
}
