package lifecycle

// A Resource is an instance or binding as it is stored.
type Resource struct {
	Kind       Kind
	Generation int64
	// SpecID is spec.externalID; Minted says that admission generated it for
	// this object. Orphan mitigation only applies to such an ID.
	SpecID string
	Minted bool
	// Deleting says that the object is being deleted, Abandoned that its broker
	// must not be called, and DeprovisionAdopted that an adopted resource is to
	// be deprovisioned, too.
	Deleting, Abandoned, DeprovisionAdopted bool
	// Adopting says that the user wants an existing instance to be adopted, and
	// none to be provisioned; for instances.
	Adopting bool
	// Rotating says that it is the other binding of a rotation, not the current
	// one.
	Rotating bool
	Record   Record
}

// Recognize replaces the retired catalog's checksum of the desired parameters
// by ours.
func (t *Resource) Recognize(desired *Desired, retiredChecksum string) {
	for _, request := range []*Request{t.Record.Applied, t.Record.InProgress} {
		if request != nil && request.Retired && request.ParameterChecksum == retiredChecksum {
			request.ParameterChecksum, request.Retired = desired.ParameterChecksum, false
		}
	}
}

// OfRetired says that the retired catalog recorded what was sent, and that it is to be
// recognized.
func (t *Resource) OfRetired() bool {
	r := &t.Record
	return r.Applied != nil && r.Applied.Retired || r.InProgress != nil && r.InProgress.Retired
}

// id is the ID for the next call.
func (t *Resource) id() string {
	if t.Record.ID != "" {
		return t.Record.ID
	}
	return t.SpecID
}

// takeOverID has the ID in spec be the one in force where the retired catalog, which stored
// no other, began an operation or ended one.
func (t *Resource) takeOverID() {
	r := &t.Record
	if r.Operation != NoOperation || r.Exists || r.Mitigating || r.DeprovisionStatus == DeprovisionRequired {
		r.ID = t.id()
	}
}

// own says whether the current ID was generated for this object, by admission
// or later by the controller, or is still to be.
func (t *Resource) own() bool { return t.Minted || t.SpecID == "" || t.id() != t.SpecID }

// mustDeprovision says whether the deletion has to reach the broker.
func (t *Resource) mustDeprovision() bool {
	r := &t.Record
	switch {
	case r.DeprovisionStatus == DeprovisionRequired || r.Mitigating:
		return true
	case t.DeprovisionAdopted:
		return r.Exists || r.Operation == Provisioning
	}
	return false
}
