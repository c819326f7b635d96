package osbtest

// A peak is the highest number of instances of some plans.
type peak struct {
	plans map[string]bool
	most  int
}

// Peak counts the instances of the plans with these IDs from now on: the function says
// how many there ever were on the books at one moment. Nothing is missed between two
// looks, for it is counted with each call that is answered.
func (b *Broker) Peak(plans ...string) func() int {
	p := &peak{plans: map[string]bool{}}
	for _, id := range plans {
		p.plans[id] = true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.peaks = append(b.peaks, p)
	b.countPeaks()
	return func() int {
		b.mu.Lock()
		defer b.mu.Unlock()
		return p.most
	}
}

// countPeaks looks whether there are more than ever.
func (b *Broker) countPeaks() {
	for _, p := range b.peaks {
		n := 0
		for _, instance := range b.instances {
			if p.plans[instance.PlanID] {
				n++
			}
		}
		p.most = max(p.most, n)
	}
}
