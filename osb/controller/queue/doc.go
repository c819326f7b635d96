// Package queue queues the calls to brokers, in one queue per broker. Waiting
// calls do not occupy workers.
//
// The number of concurrent calls is limited: per broker, so that a hanging
// broker does not take all of them; per namespace of brokers, and for all
// namespaced brokers together, because users who may create one such broker may
// create many. In the queue of a broker the namespaces of its objects take
// turns, and objects of one namespace are first in, first out: a namespace with
// thousands of objects delays others by one call. One namespace has at most
// three quarters of a broker's places, because its calls may hang.
//
// A broker that does not respond is paused. After the pause one trial call is
// made, and a response of any kind ends the pause for all that wait. If the
// trial takes long, another namespace may make a second one.
//
// If a broker answers 429 or 503 to one operation for a plan, only that
// operation is paused, and only for the namespaces that got the answer: other
// operations pass those that wait, and another namespace makes a trial call at
// once.
//
// A pass over an object starts without a place, and reads what decides which
// broker to call. When it comes to a call, it either gets a free place, or ends
// and waits. When its turn comes, it starts again with the place, and sends
// what it reads then. While an object waits, passes over it only start on
// events.
package queue
