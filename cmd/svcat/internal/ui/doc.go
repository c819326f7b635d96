// Package ui has the command that shows the marketplace in a browser: ui.
//
// It serves on the loopback interface for the user who started it, with the
// permissions of that user's kubeconfig only. It stores nothing: it keeps no
// cluster data beyond a request, the only write that it sends is a dry run, and
// it reads no Secret. Text from brokers and other users stays text: it never
// becomes a link, an image or a script, and pages only load from their own
// address.
package ui
