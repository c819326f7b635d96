// Package instances has the commands that change instances: provision, adopt, touch, share
// and deprovision.
package instances
