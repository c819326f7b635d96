// Package queue has the calls to brokers wait for their turn: in one queue per broker,
// without a worker that waits with them.
//
// How many calls run at once is limited: of one broker, so that one which hangs does not
// take all of them; of all brokers of one namespace together, and of all namespaced brokers
// together, because users who may make one such broker may make many. In the queue of a broker
// the namespaces of its objects take turns, and objects of one namespace are first come,
// first served: a namespace with thousands of objects keeps others waiting for one call. One
// namespace has three quarters of a broker's places at most, for its calls may hang.
//
// A broker that does not answer has a pause. After it one call finds out how the broker is,
// and an answer of any kind lets all that wait go on. Where that call takes long, another
// namespace may make one beside it.
//
// A broker that answers 429 or 503 to one operation for a plan has such a pause for that only, and
// for the namespaces that were refused: what waits for something else passes those that wait for
// it, and another namespace makes one call at once.
//
// A pass over an object begins without a place, and reads what it needs to know which broker is
// to be called. When it comes to a call, it either finds a free place, or ends and waits; once it
// is its turn, it is begun again, with the place, and what is sent is what it reads then. While
// an object waits, passes over it are begun only where something asks for one.
package queue
