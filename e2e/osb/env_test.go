package osb_test

import (
	"testing"

	"github.com/defaultplan/defaultplan/e2e/env"
	"github.com/defaultplan/defaultplan/e2e/stack"
)

// A testEnv is an environment whose controller handles brokers.
type testEnv struct{ *env.Env }

func newEnv(t *testing.T) *testEnv {
	t.Helper()
	return &testEnv{env.New(t)}
}

func newEnvOn(t *testing.T, s *stack.Stack) *testEnv {
	t.Helper()
	return &testEnv{env.On(t, s)}
}
