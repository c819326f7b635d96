// Command playground runs defaultplan on this machine for a trial.
//
// demo plays stories: each is data under stories/, and each step is a command
// that a user would type. Its real output is printed, and output other than the
// story expects is a failure. up and down start and stop the same stack in the
// background.
//
// The brokers of a stack are those of package osbtest, each in a process of its
// own (broker, hidden). books shows what exists at them, and fault makes them
// fail.
package main
