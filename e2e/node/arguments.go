package node

import (
	"path"
	"slices"
	"strings"

	"github.com/defaultplan/defaultplan/e2e/stack/loopback"
)

// servingFolder is where the webhook looks for its certificate unless told otherwise.
const servingFolder = "/run/defaultplan/serving"

// portFlags are the flags by the names of the daemons' ports: each has its own address
// in a pod, and on this machine a port of its own.
var portFlags = map[string]string{"health": "--health-address=", "metrics": "--metrics-address="}

// arguments are the container's own, and behind them, where the last one of a flag
// counts, what this machine demands.
func (c *container) arguments(env map[string]string) []string {
	var own []string
	for _, arg := range slices.Concat(c.spec.Command[1:], c.spec.Args) {
		own = append(own, expand(arg, env))
	}
	args := slices.Concat(own, c.moved(own))
	if !c.isDaemon() {
		return args
	}
	for _, port := range c.spec.Ports {
		local := c.pod.ports.byNumber[port.ContainerPort]
		if flag, known := portFlags[port.Name]; known {
			args = append(args, flag+loopback.Address(local))
		}
		if port.Name == "hooks" {
			_, number, _ := strings.Cut(loopback.Address(local), ":")
			args = append(args, "--port="+number, "--bind-address="+loopback.Host)
		}
	}
	if c.hasToken() {
		args = append(args, "--kubeconfig="+c.pod.path(kubeconfigFile))
	}
	return args
}

// isDaemon says whether the container is one of ours that serve: they have the flags.
func (c *container) isDaemon() bool {
	name := path.Base(c.spec.Command[0])
	return name == "webhook" || name == "controller"
}

// moved are the flags whose value is a path in a volume, with the path here.
func (c *container) moved(own []string) []string {
	var flags []string
	served := false
	for _, arg := range own {
		flag, value, isFlag := strings.Cut(arg, "=")
		if here, mounted := c.here(value); isFlag && mounted {
			flags = append(flags, flag+"="+here)
		}
		served = served || flag == "--cert-dir"
	}
	if here, mounted := c.here(servingFolder); mounted && !served && c.isDaemon() {
		flags = append(flags, "--cert-dir="+here)
	}
	return flags
}

// here is where on this machine a path of the container is, if it is in a volume.
func (c *container) here(file string) (string, bool) {
	for _, mount := range c.spec.VolumeMounts {
		within, is := strings.CutPrefix(file, mount.MountPath)
		if !is || (within != "" && within[0] != '/') {
			continue
		}
		return path.Join(c.pod.path("volumes", mount.Name), mount.SubPath, within), true
	}
	return "", false
}

// hasToken says whether the container was given its ServiceAccount's token.
func (c *container) hasToken() bool {
	for _, mount := range c.spec.VolumeMounts {
		if mount.MountPath == tokenFolder {
			return true
		}
	}
	return false
}

// expand replaces $(NAME) by variables that are known; $$ is a dollar.
func expand(text string, env map[string]string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, rest, closed := "", "", false
		if inner, is := strings.CutPrefix(after, "("); is {
			name, rest, closed = strings.Cut(inner, ")")
		}
		value, known := env[name]
		switch {
		case strings.HasPrefix(after, "$"):
			b.WriteByte('$')
			text = after[1:]
		case closed && known:
			b.WriteString(value)
			text = rest
		default:
			b.WriteByte('$')
			text = after
		}
	}
}
