// Command playground runs defaultplan on this machine to be tried out.
//
// demo tells stories: each is data under stories/, each step a command that a
// person would type and what really answers it; nothing that is printed as an
// answer is written here, and an answer other than the story says is a failure.
// up and down leave the same stack running in the background and end it.
//
// The brokers of a stack are those of package osbtest, each in a process of its own
// (broker, hidden). books shows what they really have, and fault has them go wrong.
package main
