package options

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Several controllers may run: admission recognizes all of them, and no other
// user.
func TestIsController(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, user string
		controllers  []string
		want         bool
	}{
		"Shipped":     {reason: "the one that is installed", user: controllerUser, controllers: New().Controllers, want: true},
		"Named":       {reason: "one beside it", user: controllerUser + "-east", controllers: New().Controllers, want: true},
		"Unnamed":     {reason: "no ServiceAccount is called that", user: controllerUser + "-", controllers: New().Controllers},
		"Alike":       {reason: "it is not called after it", user: controllerUser + "east", controllers: New().Controllers},
		"Elsewhere":   {reason: "anybody may make one of that name", user: "system:serviceaccount:team:defaultplan-controller-east", controllers: New().Controllers},
		"Second":      {reason: "in another namespace", user: "system:serviceaccount:team:c", controllers: []string{controllerUser, "system:serviceaccount:team:c"}, want: true},
		"Person":      {reason: "a person is one user", user: "ann", controllers: []string{"ann"}, want: true},
		"OtherPerson": {reason: "names of people say nothing of each other", user: "ann-east", controllers: []string{"ann"}},
		"NoName":      {reason: "an empty name is no user's", user: "", controllers: []string{""}},
		"NobodyElse":  {reason: "and begins no other", user: "-east", controllers: []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, (&Options{Controllers: tc.controllers}).IsController(tc.user), tc.reason)
		})
	}
}
