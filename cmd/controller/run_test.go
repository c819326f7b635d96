package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Controllers of other names work beside each other.
func TestLeaseOf(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "defaultplan-controller", leaseOf(""))
	assert.Equal(t, "defaultplan-controller-east", leaseOf("east"))
}
