package instances_test

import "github.com/defaultplan/defaultplan/e2e/env"

// What kubectl apply and its server-side form do to a database.

const (
	// east is what the user writes later, and storedEast what is stored then.
	east       = `"location":"eastus","size":9007199254740993,"firewall":{"name":"office","start":null},"tier":null`
	storedEast = `{"firewall":{"end":"255.255.255.255","name":"office","start":null},"location":"eastus",` +
		`"size":9007199254740993,"ssl":false,"tags":["a","b"],"tier":null}`
)

// bobWrote says that bob changed the parameters to those stored.
func bobWrote(parameters string) func(*env.Holding) {
	return func(h *env.Holding) { h.Parameters, h.User, h.Generation = parameters, env.Bob, h.Generation+1 }
}

// untold says that an instance changed in nothing that admission looks after.
func untold(*env.Holding) {}

// unnulled is a database whose user wrote nulls and ran kubectl apply: that
// leaves nulls out when it creates, as it does when it patches, so the defaults
// stay. To remove a default, write by kubectl create, kubectl replace or
// server-side apply.
func unnulled(h *env.Holding) {
	h.Parameters = `{"firewall":{"end":"255.255.255.255","name":"office","start":"0.0.0.0"},"location":"westus",` +
		`"size":9007199254740993,"ssl":false,"tags":["a","b"],"tier":"basic"}`
	h.Applied.From = map[string]string{"/firewall/end": "plan", "/firewall/start": "plan", "/ssl": "plan", "/tags": "class", "/tier": "class"}
	h.Applied.Removed = nil
}

// applyPaths are kubectl apply on the client's side, from the first time on.
func applyPaths() map[string]writePath {
	created := apply(env.Alice, with(written))
	return map[string]writePath{
		"ApplySame": {
			reason: "what is applied again is unchanged, with nulls in the manifest too",
			create: created, started: unnulled, write: apply(env.Bob, with(written)),
		},
		"ApplyOtherValue": {
			reason: "a changed value is all that changes",
			create: created, started: unnulled, write: apply(env.Bob, with(east)),
			changes: bobWrote(`{"firewall":{"end":"255.255.255.255","name":"office","start":"0.0.0.0"},"location":"eastus","size":9007199254740993,"ssl":false,"tags":["a","b"],"tier":"basic"}`),
		},
		"ApplyWithoutAKey": {
			reason: "a key that the user no longer writes goes; nothing else does",
			create: created, started: unnulled, write: apply(env.Bob, with(`"location":"westus","firewall":{"name":"office","start":null},"tier":null`)),
			changes: bobWrote(`{"firewall":{"end":"255.255.255.255","name":"office","start":"0.0.0.0"},"location":"westus","ssl":false,"tags":["a","b"],"tier":"basic"}`),
		},
		"ApplyWithoutTheNulls": {
			reason: "kubectl removes what it applied before, and by its record that were the nulls: now they do take the defaults away",
			create: created, started: unnulled, write: apply(env.Bob, with(`"location":"westus","size":9007199254740993,"firewall":{"name":"office"}`)),
			changes: func(h *env.Holding) {
				bobWrote(`{"firewall":{"end":"255.255.255.255","name":"office"},"location":"westus","size":9007199254740993,"ssl":false,"tags":["a","b"]}`)(h)
				delete(h.Applied.From, "/firewall/start")
				delete(h.Applied.From, "/tier")
			},
		},
		"ApplyWithoutParameters": {
			reason: "who writes no parameters any more has the defaults, as the manifest would have if it were new",
			create: created, started: unnulled, write: apply(env.Bob, (*database).manifestWithout),
			changes: bobWrote(`{"firewall":{"end":"255.255.255.255","start":"0.0.0.0"},"ssl":false,"tags":["a","b"],"tier":"basic"}`),
		},
	}
}

// savedPaths are kubectl apply of what kubectl create --save-config created, with
// its nulls.
func savedPaths() map[string]writePath {
	created := create(with(written), "--save-config")
	return map[string]writePath{
		"SavedApplySame": {
			reason: "a manifest with nulls that took defaults away does not drift",
			create: created, write: apply(env.Bob, with(written)),
		},
		"SavedApplyOtherValue": {
			reason: "a changed value is all that changes; the nulls stay",
			create: created, write: apply(env.Bob, with(east)), changes: bobWrote(storedEast),
		},
		"SavedApplyWithoutANull": {
			reason: "a default that a null took away does not come back by itself",
			create: created, write: apply(env.Bob, with(`"location":"westus","size":9007199254740993,"firewall":{"name":"office","start":null}`)),
			changes: func(h *env.Holding) {
				bobWrote(`{"firewall":{"end":"255.255.255.255","name":"office","start":null},"location":"westus","size":9007199254740993,"ssl":false,"tags":["a","b"]}`)(h)
				h.Applied.Removed = []string{"/firewall/start"}
			},
		},
	}
}

// manifestWithout is the manifest without parameters.
func (d *database) manifestWithout() string { return d.manifestOf() }

// defaultsByBob says that bob took away the parameters that were alice's.
func defaultsByBob(h *env.Holding) {
	bobWrote(`{"firewall":{"end":"255.255.255.255"},"ssl":false,"tags":["a","b"]}`)(h)
	h.Applied.Removed = nil
}

// appliedDefaultPaths are writes of values that a default gave before.
func appliedDefaultPaths() map[string]writePath {
	tags := func(h *env.Holding) { delete(h.Applied.From, "/tags") }
	return map[string]writePath{
		"ApplyOverADefault": {
			reason: "a default that the user writes over is the user's",
			create: create(with(written), "--save-config"), write: apply(env.Bob, with(written+`,"tags":["c"]`)),
			changes: func(h *env.Holding) {
				tags(h)
				bobWrote(`{"firewall":{"end":"255.255.255.255","name":"office","start":null},"location":"westus","size":9007199254740993,"ssl":false,"tags":["c"],"tier":null}`)(h)
			},
			owns: []string{"kubectl-client-side-apply f:tags"},
		},
		"ServerSideOverADefault": {
			reason: "no conflict: admission's value has no owner",
			create: applyServerSide(env.Alice, "chart", with(written)), write: applyServerSide(env.Bob, "team", with(`"tags":["c"]`)),
			changes: func(h *env.Holding) {
				tags(h)
				bobWrote(`{"firewall":{"end":"255.255.255.255","name":"office","start":null},"location":"westus","size":9007199254740993,"ssl":false,"tags":["c"],"tier":null}`)(h)
			},
			owns: []string{"team f:tags"},
		},
		"ServerSideTheSameAsADefault": {
			reason: "a manager may own a value without changing it; it stays the default's",
			create: applyServerSide(env.Alice, "chart", with(written)), write: applyServerSide(env.Bob, "team", with(`"tags":["a","b"]`)),
			changes: untold, owns: []string{"team f:tags"},
		},
	}
}

// serverSidePaths are kubectl apply --server-side, by one manager and by two.
func serverSidePaths() map[string]writePath {
	created := applyServerSide(env.Alice, "chart", with(written))
	return map[string]writePath{
		"ServerSideSame": {
			reason: "what is applied again is unchanged, the nulls in it too",
			create: created, write: applyServerSide(env.Bob, "chart", with(written)),
		},
		"ServerSideOtherValue": {
			reason: "a changed value is all that changes",
			create: created, write: applyServerSide(env.Bob, "chart", with(east)), changes: bobWrote(storedEast),
		},
		"ServerSideWithoutParameters": {
			reason: "who writes no parameters any more has the defaults; one that a null took away does not come back by itself",
			create: created, write: applyServerSide(env.Bob, "chart", (*database).manifestWithout), changes: defaultsByBob,
		},
		"ServerSideEmptyParameters": {
			reason: "a manager that writes no parameters owns none; what has no owner stays, but for what is in an object that was the user's",
			create: created, write: applyServerSide(env.Bob, "chart", with(``)),
			changes: func(h *env.Holding) {
				bobWrote(`{"ssl":false,"tags":["a","b"]}`)(h)
				delete(h.Applied.From, "/firewall/end")
				h.Applied.Removed = nil
			},
		},
		"ServerSideSecondManager": {
			reason: "a second manager adds what is its own",
			create: created, write: applyServerSide(env.Bob, "team", with(`"owner":"team-a"`)),
			changes: bobWrote(`{"firewall":{"end":"255.255.255.255","name":"office","start":null},"location":"westus","owner":"team-a","size":9007199254740993,"ssl":false,"tags":["a","b"],"tier":null}`),
		},
		"ServerSideForcedConflict": {
			reason: "a manager that forces its value takes that value and no more",
			create: created, write: applyServerSide(env.Bob, "team", with(`"location":"eastus"`), "--force-conflicts"),
			changes: bobWrote(storedEast),
		},
		"ServerSideAfterClientSide": {
			reason: "who changes from one form of apply to the other loses nothing",
			create: create(with(written), "--save-config"), write: applyServerSide(env.Bob, "kubectl", with(written)), changes: untold,
		},
	}
}
