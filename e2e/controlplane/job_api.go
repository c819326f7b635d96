//go:build !before1.36

package main

import "k8s.io/kubernetes/pkg/controller/job"

func (c *controllers) newJobs(id identity) (*job.Controller, error) {
	// The informers of gang scheduling are for a feature that is off.
	return job.NewController(c.ctx, id.kube, c.typed.Core().V1().Pods(), c.typed.Batch().V1().Jobs(), nil, nil)
}
