package controller

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/osb/lifecycle"
)

func TestTries(t *testing.T) {
	t.Parallel()
	failure := errors.New("503")
	for name, tc := range map[string]struct {
		reason string
		before lifecycle.Step
		err    error
		step   lifecycle.Step
		failed int32
		want   bool
	}{
		"Again":        {reason: "the same operation, which failed", before: lifecycle.Make, err: failure, step: lifecycle.Make, failed: 1, want: true},
		"AfterSuccess": {reason: "what went well is not tried again", before: lifecycle.Make, step: lifecycle.Make, failed: 1},
		"Another":      {reason: "a removal after a failed try is an operation of its own", before: lifecycle.Make, err: failure, step: lifecycle.Remove, failed: 1},
		"Anew":         {reason: "an edit begins anew after a failure for good", before: lifecycle.Make, err: failure, step: lifecycle.Make},
		"AfterAPoll":   {reason: "a poll that fails is no try", before: lifecycle.Poll, err: failure, step: lifecycle.Poll, failed: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tried tries
			instance := &v1beta1.ServiceInstance{ObjectMeta: metav1.ObjectMeta{UID: "u"}}
			tried.ended(instance, tc.before, tc.err)
			next := &lifecycle.Decision{Step: tc.step}
			next.Record.Retries = tc.failed
			assert.Equal(t, tc.want, tried.again(instance, next), tc.reason)
		})
	}
}
