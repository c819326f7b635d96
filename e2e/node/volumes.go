package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
)

// A volume is a folder; of one whose content is an object's, written says which.
type volume struct {
	dir     string
	written string
}

// path is a path in the pod's folder.
func (p *pod) path(names ...string) string {
	return filepath.Join(append([]string{p.dir}, names...)...)
}

// mount makes the folders of all volumes, and fills them.
func (p *pod) mount(ctx context.Context) error {
	for i := range p.object.Spec.Volumes {
		v := &volume{dir: p.path("volumes", p.object.Spec.Volumes[i].Name)}
		if err := os.MkdirAll(v.dir, 0o700); err != nil {
			return fmt.Errorf("cannot make folder of a volume: %w", err)
		}
		if p.volumes[p.object.Spec.Volumes[i].Name] == nil {
			p.volumes[p.object.Spec.Volumes[i].Name] = v
		}
	}
	return p.refresh(ctx)
}

// refresh brings the volumes to what their objects hold now.
func (p *pod) refresh(ctx context.Context) error {
	var failures []error
	for i := range p.object.Spec.Volumes {
		given := &p.object.Spec.Volumes[i]
		if err := p.fill(ctx, given); err != nil {
			failures = append(failures, fmt.Errorf("cannot mount volume %q: %w", given.Name, err))
		}
	}
	return errors.Join(failures...)
}

func (p *pod) fill(ctx context.Context, given *corev1.Volume) error {
	v := p.volumes[given.Name]
	switch {
	case given.EmptyDir != nil:
		return nil
	case given.Secret != nil:
		files, version, err := p.sources.secretFiles(ctx, given.Secret.SecretName, given.Secret.Items, given.Secret.Optional)
		if err != nil {
			return err
		}
		return v.write(files, version)
	case given.ConfigMap != nil:
		files, version, err := p.sources.configMapFiles(ctx, given.ConfigMap.Name, given.ConfigMap.Items, given.ConfigMap.Optional)
		if err != nil {
			return err
		}
		return v.write(files, version)
	case given.Projected != nil:
		return p.project(ctx, v, given.Projected)
	}
	return errors.New("this node knows no such volume")
}

// project fills a projected volume: its parts together are one content. The token has
// a life of its own.
func (p *pod) project(ctx context.Context, v *volume, given *corev1.ProjectedVolumeSource) error {
	all, versions := map[string][]byte{}, ""
	for i := range given.Sources {
		files, version, err := p.projection(ctx, &given.Sources[i])
		if err != nil {
			return err
		}
		versions += version + ","
		maps.Copy(all, files)
	}
	return v.write(all, versions)
}

func (p *pod) projection(ctx context.Context, source *corev1.VolumeProjection) (map[string][]byte, string, error) {
	switch {
	case source.Secret != nil:
		return p.sources.secretFiles(ctx, source.Secret.Name, source.Secret.Items, source.Secret.Optional)
	case source.ConfigMap != nil && source.ConfigMap.Name == rootCAConfigMap:
		// Nothing publishes it here: the kubeconfig has the authority.
		return nil, "", nil
	case source.ConfigMap != nil:
		return p.sources.configMapFiles(ctx, source.ConfigMap.Name, source.ConfigMap.Items, source.ConfigMap.Optional)
	case source.ServiceAccountToken != nil:
		return p.tokenFiles(ctx, source.ServiceAccountToken)
	case source.DownwardAPI != nil:
		return p.sources.downwardFiles(source.DownwardAPI)
	}
	return nil, "", errors.New("this node knows no such projection")
}
