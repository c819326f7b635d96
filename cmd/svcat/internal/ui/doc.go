// Package ui has the command that shows the marketplace in a browser: ui.
//
// It is a page on the loopback for the person who started it, with the rights of that
// person's kubeconfig and no others. It stores nothing: of the cluster it keeps nothing
// beyond a request, the only write that it sends is a dry run, and it reads no Secret.
// What brokers and other people wrote is text: nothing of it becomes a link, a picture
// or a script, and no page asks for anything but its own address.
package ui
