package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/defaultplan/defaultplan/cmd/svcat/internal/bundle"
	"github.com/defaultplan/defaultplan/cmd/svcat/internal/cli"
)

// toStdout is the --bundle that is written to standard output.
const toStdout = "-"

// validateBundle says what goes not together with --bundle, and whether its file is there.
func (o *options) validateBundle() error {
	switch {
	case o.bundle == "" && o.force:
		return cli.Usagef("--force is for --bundle: give it too")
	case o.bundle == "":
		return nil
	case o.wait || o.output != "":
		return cli.Usagef("--bundle goes without --wait and --output: the report of svcat check is in the bundle")
	case o.bundle == toStdout || o.force:
		return nil
	}
	if _, err := os.Lstat(o.bundle); !errors.Is(err, fs.ErrNotExist) {
		return cli.Usagef("--bundle: %s is there already; name another file, or give --force", o.bundle)
	}
	return nil
}

// writeBundle writes what support needs. A bundle is for installations that are not whole: what
// was found is in it, and does not change the exit code.
func (o *options) writeBundle(ctx context.Context, env *cli.Env, s *installation) error {
	s.reasonsOnly = true
	found := reportOf(s.round(ctx))
	for i := range found.Findings {
		found.Findings[i].Message = cli.WithoutCredentials(found.Findings[i].Message)
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
	if o.bundle == toStdout {
		_, err := content.WriteTo(env.Out)
		return err
	}
	if err := o.store(content.Bytes()); err != nil {
		return fmt.Errorf("cannot write the bundle: %w", err)
	}
	_, err = fmt.Fprintf(env.Out, "%s was written: %s; %s\nlook into README.txt first: it says what is in it, and what was left out\n", o.bundle, archive.Summary(), found.summary())
	return err
}

// store writes the file, which only its owner may read.
func (o *options) store(content []byte) (err error) {
	const owners = 0o600
	how := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if o.force {
		how = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(o.bundle, how, owners)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = file.Write(content)
	return err
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
		Proxy: func(ctx context.Context, path string) ([]byte, error) { return proxied(ctx, server.RESTClient(), path) },
		ServerVersion: func(ctx context.Context) (string, error) {
			version, err := server.ServerVersionWithContext(ctx)
			if err != nil {
				return "", err
			}
			return version.GitVersion, nil
		},
	}, nil
}

// proxied reads from a process through the API server.
func proxied(ctx context.Context, through rest.Interface, path string) ([]byte, error) {
	return through.Get().AbsPath(path).DoRaw(ctx)
}
