// Package merge combines layers of parameters and of secret transforms, says
// which layer each value came from, and validates values by a plan's JSON
// schema. It is pure: values go in and values come out. It uses no cluster,
// clock, log, network or file, and never changes its arguments.
//
// The fold goes from the lowest layer to the highest: class, plan, user. Objects merge key by key, at any depth; arrays and
// scalars are replaced whole. A null means "without it":
//
//	lower      higher     defaults layer (class, plan)     last layer (the user's)
//	present    null       the key is absent                the null stays in Values, is listed in Removed, and is not sent
//	a null     null       the key is absent                the null stays and is sent: nothing was taken away
//	absent     null       the null stays                   the null stays and is sent
//
// A user's null stays in what is stored because a tool that applies the same manifest again would otherwise see a difference
// for ever.
//
// Three laws hold, and are fuzzed: the result equals a plain left fold; merging a result again over the same defaults changes
// nothing; adding Result.Added to the user's document gives exactly Result.Values.
//
// Numbers keep the text that they were written with ([encoding/json.Number]), so 9007199254740993 stays what it is.
package merge
