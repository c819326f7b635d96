//go:build before1.36

package main

import "k8s.io/kubernetes/pkg/controller/job"

func (c *controllers) newJobs(id identity) (*job.Controller, error) {
	return job.NewController(c.ctx, c.typed.Core().V1().Pods(), c.typed.Batch().V1().Jobs(), id.kube)
}
