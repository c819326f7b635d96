package controller

import (
	"context"
	"time"

	"github.com/defaultplan/defaultplan/osb/controller/broker"
	"github.com/defaultplan/defaultplan/osb/controller/expose"
	"github.com/defaultplan/defaultplan/osb/controller/queue"
)

var theBroker = broker.Key{Name: "b"}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// freeQueues are queues in which nothing waits.
func freeQueues() *queue.Queues {
	return queue.New(queue.Limits{Calls: 128, PerBroker: 24, PerNamespace: 32, Namespaced: 96})
}

// around are rules of a cluster in which nothing is refused but what is in every one.
func around(context.Context) (*expose.Rules, error) { return &expose.Rules{}, nil }
