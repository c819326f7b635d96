// Package ui has the command that shows the marketplace in a browser: ui.
//
// It serves on the loopback interface for the user who started it, with the
// permissions of that user's kubeconfig only. It keeps no cluster data beyond a
// request and reads no Secret. The only write that it sends is a dry run; with
// --allow-create also the creation of exactly what a dry run has shown. Text from brokers and other users stays text: it never
// becomes a link, an image or a script, and pages only load from their own
// address.
package ui
