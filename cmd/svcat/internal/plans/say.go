package plans

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// warnf tells what a person should know beside what was done. It is not what the
// command is for: if it cannot be printed, nothing fails.
func warnf(env *cli.Env, format string, args ...any) {
	_, _ = fmt.Fprintln(env.ErrOut, "warning: "+fmt.Sprintf(format, args...))
}

// notef tells what goes on.
func notef(env *cli.Env, format string, args ...any) {
	_, _ = fmt.Fprintf(env.ErrOut, format+"\n", args...)
}

// blankOf is an object of the same kind and name, to be decoded into: what is
// decoded does not take away what an object held before.
func blankOf(object client.Object) client.Object {
	at := client.ObjectKeyFromObject(object)
	switch object.(type) {
	case v1beta1.ClassObject:
		return classAt(at)
	case v1beta1.PlanObject:
		return planAt(at)
	}
	return typeAt(at)
}
