// Package moving_test proves that svcat export and svcat import move what the retired catalog
// left on one control plane to another, on which defaultplan runs, without one call that changes
// anything at a broker: whatever state an object is in, and wherever svcat is killed.
package moving_test
