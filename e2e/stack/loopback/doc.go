// Package loopback has the addresses that the processes of a stack listen on: ports of the
// loopback that many stacks at once share without meeting.
package loopback
