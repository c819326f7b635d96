package controller

import (
	"context"
	"strings"

	"github.com/defaultplan/defaultplan/osb"
	"github.com/defaultplan/defaultplan/osb/controller/credentials"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

// found compares what the broker has of a binding that is to be adopted with its spec; nil:
// none is. A broker tells neither class nor plan of a binding.
func (s *bindingResource) found(d *lifecycle.Decision, binding *osb.Binding) *lifecycle.Found {
	thing := s.thing()
	if d.Step != lifecycle.Fetch || !thing.Adopts() || thing.Record.Exists {
		return nil
	}
	return &lifecycle.Found{Difference: strings.Join(otherValues(s.request.parameters.Values, binding.Parameters), "; ")}
}

// supplied finds out whether the Secret holds the credentials of a binding that is to be
// adopted. Where its broker cannot be asked, the Secret becomes the binding's own here,
// before status says that it is bound.
func (s *bindingResource) supplied(ctx context.Context, thing *lifecycle.Resource, found *inputs) (err error) {
	if found.Problem != nil || !thing.Adopts() {
		return nil
	}
	found.SecretName = credentials.SecretName(s.binding)
	if found.Stored, err = s.deposit.Supplied(ctx); err != nil || !found.Stored || found.Fetchable {
		return err
	}
	found.Problem, err = s.deposit.TakeOver(ctx)
	if found.Problem != nil {
		found.Desired = nil
	}
	return err
}
