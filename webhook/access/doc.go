// Package access asks the API server what users may do, and words what they may not.
package access
