package decision

import (
	"github.com/defaultplan/defaultplan/webhook/access"
	"github.com/defaultplan/defaultplan/webhook/catalog"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/parameters"
	"github.com/defaultplan/defaultplan/webhook/policies"
	"github.com/defaultplan/defaultplan/webhook/schema"
)

// Tools are what deciding on an object takes: instances, bindings and offerings share them.
type Tools struct {
	Resolver *Resolver
	Schemas  *schema.Checker
	Defaults *parameters.Defaults
	Policies *policies.Reader
	Access   access.Rights
	Options  *options.Options
}

// NewTools returns the tools for what is read of the catalog, the policies and users' rights.
func NewTools(found *catalog.Catalog, rules *policies.Reader, rights access.Rights, options *options.Options) *Tools {
	return &Tools{
		Resolver: &Resolver{Catalog: found, policies: rules, gates: options.Gates},
		Schemas:  schema.NewChecker(found.Live, options),
		Defaults: parameters.NewDefaults(),
		Policies: rules,
		Access:   rights,
		Options:  options,
	}
}
