// Image makes the container images of the project without a container engine: one OCI
// layout for each program, for several platforms, with a list of what is in it and a
// statement of how it was made; and pushes them to a registry. It makes a whole release,
// too: archives of the programs, the images, manifests and charts that pin them. The same
// source makes the same bytes, wherever it lies.
//
//	go run . -push HOST/REPOSITORY
//	go run . -version v0.2.0 -release ../../bin/release/v0.2.0
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// options are the flags of the command.
type options struct {
	root      string
	out       string
	programs  string
	platforms string
	version   string
	push      string
	release   string
	registry  string
}

func (o *options) bind(flags *flag.FlagSet) {
	flags.StringVar(&o.root, "root", "../..", "folder of the project")
	flags.StringVar(&o.out, "out", "../../bin/image", "folder that gets a layout for each program, and its lists of what is in it")
	flags.StringVar(&o.programs, "programs", "webhook,controller,svcat", "which programs of cmd to make images of")
	flags.StringVar(&o.platforms, "platforms", "amd64,arm64", "for which processors; the system is linux")
	flags.StringVar(&o.version, "version", "", "the version, which is the tag too; empty means what git describes")
	flags.StringVar(&o.push, "push", "", "registry and repository to push to as HOST/REPOSITORY; each program gets its own below that")
	flags.StringVar(&o.release, "release", "", "folder that gets a release in place of images, built from the tag of -version")
	flags.StringVar(&o.registry, "registry", "", "with -release: host and path of the registry that the manifests pull defaultplan/PROGRAM from; empty: what nodes take an image without one to be")
}

// run makes the images that the arguments ask for, and prints one line for each: its
// program, its version and its digest.
func run(ctx context.Context, args []string, out io.Writer) error {
	o := options{}
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	o.bind(flags)
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w; see -help", err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no flag; see -help", flags.Arg(0))
	}
	if o.release != "" {
		return (&release{repository: o.root, out: filepath.Clean(o.release), registry: strings.TrimSuffix(o.registry, "/"), progress: out}).make(ctx, o.version)
	}
	from, err := readSource(ctx, o.root, o.version, os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	made, err := build(ctx, &plan{
		root: o.root, out: o.out, source: from,
		programs: strings.Split(o.programs, ","), platforms: strings.Split(o.platforms, ","),
	})
	if err != nil {
		return err
	}
	for _, image := range made {
		if o.push != "" {
			if err := push(ctx, image.layout, o.push+"/"+image.program, from.tag()); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintln(out, image.program, from.version, image.digest); err != nil {
			return fmt.Errorf("cannot print the digest: %w", err)
		}
	}
	return nil
}
