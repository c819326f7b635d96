package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/bundle"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/termtext"
)

// validateBundle says what goes not together with --bundle, and whether its file is there.
func (o *options) validateBundle() error {
	switch {
	case o.bundle == "" && o.force:
		return cli.Usagef("--force is for --bundle: give it too")
	case o.bundle == "":
		return nil
	case o.wait || o.output != "":
		return cli.Usagef("--bundle goes without --wait and --output: the report of svcat check is in the bundle")
	}
	return o.file().Validate()
}

func (o *options) file() *cli.NewFile {
	return &cli.NewFile{Flag: "bundle", Path: o.bundle, Force: o.force}
}

// writeBundle writes what support needs. A bundle is for installations that are not whole: what
// was found is in it, and does not change the exit code.
func (o *options) writeBundle(ctx context.Context, env *cli.Env, s *installation) error {
	s.reasonsOnly = true
	found := reportOf(s.round(ctx))
	for i := range found.Findings {
		found.Findings[i] = forSupport(found.Findings[i])
	}
	ctx, cancel := context.WithTimeout(ctx, roundLimit)
	defer cancel()
	collector, err := s.collector(ctx)
	if err != nil {
		return err
	}
	reached := found.Findings[0].Level != levelFailed
	archive := collector.Collect(ctx, found, reached)
	var content bytes.Buffer
	if err := archive.Write(&content); err != nil {
		return err
	}
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
		return &cli.Failure{Code: cli.ExitInterrupted, Err: errors.New("interrupted; nothing was written")}
	}
	if o.bundle == cli.StandardOutput {
		_, err := content.WriteTo(env.Out)
		return err
	}
	if err := o.file().Store(content.Bytes()); err != nil {
		return fmt.Errorf("cannot write the bundle: %w", err)
	}
	_, err = fmt.Fprintf(env.Out, "%s was written: %s; %s\nlook into README.txt first: it says what is in it, and what was left out\n", o.bundle, archive.Summary(), found.summary())
	return err
}

// forSupport is a finding as a bundle has it: brokers name plans, and findings name those.
func forSupport(f finding) finding {
	f.Message, f.Do = termtext.Line(cli.WithoutCredentials(f.Message)), termtext.Line(f.Do)
	return f
}

// collector reads with the clients of the installation.
func (s *installation) collector(ctx context.Context) (*bundle.Collector, error) {
	server, err := discovery.NewDiscoveryClientForConfig(s.config)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	hooks, _ := checkHooks(ctx, s.client)
	return &bundle.Collector{
		Reader: s.client, System: s.systemOf(hooks), Namespace: s.namespace, Now: s.clock.Now(),
		Proxy: func(ctx context.Context, path string) (io.ReadCloser, error) {
			return proxied(ctx, server.RESTClient(), path)
		},
		ServerVersion: func(ctx context.Context) (string, error) {
			version, err := server.ServerVersionWithContext(ctx)
			if err != nil {
				return "", err
			}
			return version.GitVersion, nil
		},
	}, nil
}

// proxied opens what a process serves, through the API server.
func proxied(ctx context.Context, through rest.Interface, path string) (io.ReadCloser, error) {
	return through.Get().AbsPath(path).Stream(ctx)
}
