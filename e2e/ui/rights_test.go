package ui_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
)

// TestRightsAreThePersonsOwn: who may nothing is told what is missing and which command
// grants it; with the roles that these grant, and no right to Secrets, everything works.
func TestRightsAreThePersonsOwn(t *testing.T) {
	t.Parallel()
	e, b := newEnv(t), newBrowser(t)
	e.Apply(shop)
	kubeconfig, _ := e.user()
	address := e.serve(kubeconfig)
	b.open(address, "Not shown: you lack rights")
	b.sees("You may not list clusterserviceplans in the cluster.")
	b.sees("You may not list serviceplans in namespace " + e.Namespace + ".")
	granted := map[string]bool{}
	for _, command := range b.commands() {
		if !granted[command] {
			granted[command] = true
			e.allow(command)
		}
	}
	assert.Len(t, granted, 2, "one for the cluster, one for the namespace")

	b.click("Types", "Types on offer")
	small := e.Name("azure") + "/small"
	b.click(e.Name("mysql"), e.Name("mysql"))
	b.click("Configure…", small)
	b.fill("size", "20")
	b.send("It could not be tried")
	b.sees("You may not create serviceinstances in namespace " + e.Namespace)
	assert.Contains(t, b.text("#yaml"), "size: 20", "who may can be handed it")
	commands := b.commands()
	e.allow(commands[0])
	b.send("It would be admitted")
	assert.Contains(t, b.rows("#result table.parameters"), []string{"tier", `"basic"`, "plan"})
	b.click("Instances", "Instances and bindings")
	b.behaved(address)
}

// commands are those that the page shows to copy.
func (b *browser) commands() []string {
	b.Helper()
	return ask(b, chromedp.Evaluate[[]string](`[...document.querySelectorAll(".notice pre.code")].map(p => p.textContent)`))
}
