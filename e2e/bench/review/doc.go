// Package review writes the AdmissionReviews that are measured, and sends them to a hook as an API
// server does.
package review
