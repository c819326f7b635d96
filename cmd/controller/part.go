package main

import (
	"strings"

	"github.com/go-logr/logr"

	"github.com/defaultplan/defaultplan/osb/controller/options"
)

// tellPart logs which part of the cluster a controller handles, if not all: it
// ignores the rest silently.
func tellPart(log logr.Logger, o *options.Options) {
	if o.ControllerName != "" {
		log.Info("only brokers that name this controller are handled", "controllerName", o.ControllerName)
	}
	if len(o.Namespaces) > 0 {
		log.Info("only these namespaces are looked into: brokers, classes and plans of the cluster are not seen", "namespaces", strings.Join(o.Namespaces, ","))
	}
	if o.IgnoreQuotas {
		log.Info("policies are not read: their limits are not kept to, and only admission judges what they deny (--ignore-quotas)")
	}
}
