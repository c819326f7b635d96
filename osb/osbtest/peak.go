package osbtest

// A peak is the highest number of instances of some plans, or of bindings.
type peak struct {
	plans    map[string]bool
	bindings bool
	most     int
}

// Peak counts the instances of the plans with these IDs from now on: the function says
// how many there ever were on the books at one moment. Nothing is missed between two
// looks, for it is counted with each call that is answered.
func (b *Broker) Peak(plans ...string) func() int {
	p := &peak{plans: map[string]bool{}}
	for _, id := range plans {
		p.plans[id] = true
	}
	return b.peak(p)
}

// PeakBindings is Peak for bindings, to whichever instances.
func (b *Broker) PeakBindings() func() int { return b.peak(&peak{bindings: true}) }

func (b *Broker) peak(p *peak) func() int {
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
