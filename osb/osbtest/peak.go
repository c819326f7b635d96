package osbtest

// A peak is the highest number of instances of some plans, or of bindings.
type peak struct {
	plans    map[string]bool
	bindings bool
	most     int
}

// countPeaks looks whether there are more than ever.
func (b *books) countPeaks() {
	for _, p := range b.peaks {
		n := 0
		if p.bindings {
			n = len(b.bindings)
		}
		for _, instance := range b.instances {
			if p.plans[instance.PlanID] {
				n++
			}
		}
		p.most = max(p.most, n)
	}
}
