// Package doctor has the command that examines an installation: svcat check.
//
// A finding is failed where a component does not work, and a warning where it works but
// needs attention. What the user may not read is reported as unknown. Reading the
// cluster is separate from judging what was read: the judges are functions of values.
package doctor
