package main

import (
	"strings"

	"github.com/go-logr/logr"

	"github.com/defaultplan/defaultplan/osb/controller"
)

// tellPart says what a controller is for that is not for all: what it leaves alone, it does
// so without a word.
func tellPart(log logr.Logger, o *controller.Options) {
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
