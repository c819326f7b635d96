// Package planflags has the flags with which svcat provision and svcat bind choose a plan.
package planflags
