package ui_test

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

// TestByKeyboardAlone: from the types to an instance that is ready, without a mouse. With
// --allow-create what the dry run has shown is created, and its progress is shown.
func TestByKeyboardAlone(t *testing.T) {
	t.Parallel()
	e, b := newEnv(t), newBrowser(t)
	e.Apply(shop)
	e.recorded()
	mysql, small, name := e.Name("mysql"), e.Name("azure")+"/small", "by-keys"
	kubeconfig, user := e.user()
	e.GrantClusterRole(user, "servicecatalog-catalog-view")
	e.GrantRole(user, "servicecatalog-view")
	e.GrantRole(user, "servicecatalog-edit")
	address := e.serve(kubeconfig, "--allow-create")

	b.open(address, "Types on offer")
	b.tabTo("Skip to the content")
	b.press(kb.Enter)
	b.tabTo(mysql)
	b.press(kb.Enter)
	b.arrives(mysql)
	b.tabTo("The choice, step by step")
	b.tabBackTo("Configure…")
	b.press(kb.Enter)
	b.arrives(small)
	b.tabTo("Name of the instance")
	b.press(name)
	b.tabTo("size: Disk in GiB required")
	b.press("20" + kb.Enter)
	b.do(chromedp.WaitVisible("//h2[@id='result-title'][normalize-space()='It would be admitted']"))
	assert.Contains(t, b.text("#yaml"), "name: "+name)
	b.tabTo("Create " + name + " in namespace " + e.Namespace)
	b.press(kb.Enter)
	b.arrives(name)
	b.sees("It is not ready yet.")
	stored := &v1beta1.ServiceInstance{}
	require.NoError(t, e.Client().Get(t.Context(), client.ObjectKey{Namespace: e.Namespace, Name: name}, stored))
	assert.Equal(t, user, stored.Spec.UserInfo.Username, "with the person's own rights")
	e.becomesReady(name)
	b.do(chromedp.WaitVisible("//main//span[contains(@class, 'good')][normalize-space()='Ready']"))
	b.behaved(address)
}

// TestWithoutJavaScript: the same with a mouse, where no script runs.
func TestWithoutJavaScript(t *testing.T) {
	t.Parallel()
	e, b := newEnv(t), newBrowser(t)
	e.Apply(shop)
	e.recorded()
	mysql, small, large := e.Name("mysql"), e.Name("azure")+"/small", e.Name("azure")+"/large"
	address := e.serve(e.Kubeconfig(), "--allow-create")
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	b.open(address, "Types on offer")
	b.click("All plans", "All plans")
	b.do(chromedp.SetValue("//select[@name='type']", mysql), clickOn("//button[normalize-space()='Filter']"))
	b.do(chromedp.WaitVisible("//p[starts-with(normalize-space(), '2 of ')]"))
	assert.Equal(t, []string{large, small}, firstOf(b.rows("table")))
	b.click(small, small)
	b.fill("Name of the instance", "quiet")
	b.fill("size", "20")
	b.send("It would be admitted")
	assert.Zero(t, ask(b, chromedp.Evaluate[int](`document.querySelectorAll("button.copy").length`)), "no script has run")
	b.click("Create quiet in namespace "+e.Namespace, "quiet")
	b.sees("It is not ready yet.")
	e.becomesReady("quiet")
	b.do(clickOn("//main//a[normalize-space()='Refresh']"), chromedp.WaitVisible("//main//span[contains(@class, 'good')][normalize-space()='Ready']"))
	b.behaved(address)
}

// TestAnotherNamespace: a person chooses another namespace, without a script; what the pages show,
// try and give to copy is then for it. Who may not list namespaces types the name.
func TestAnotherNamespace(t *testing.T) {
	t.Parallel()
	e, b := newEnv(t), newBrowser(t)
	e.Apply(shop)
	e.recorded()
	other, small := e.AddNamespace(), e.Name("azure")+"/small"
	e.Apply("{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceInstance, metadata: {name: theirs, namespace: " + other + "}, spec: {serviceType: mysql-SUFFIX, parameters: {size: 5}}}")
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	address := e.serve(e.Kubeconfig(), "--allow-create")
	b.open(address, "Types on offer")
	b.do(chromedp.SetValue("//select[@id='namespace']", other), clickOn("//header//button[normalize-space()='Go']"))
	b.do(chromedp.WaitReady("//select[@id='namespace']/option[@selected][normalize-space()='" + other + "']"))
	b.click("Instances", "Instances and bindings")
	b.click("theirs", "theirs")
	b.click("All plans", "All plans")
	b.click(small, small)
	b.fill("Name of the instance", "mine")
	b.fill("size", "20")
	b.send("It would be admitted")
	assert.Contains(t, b.text("#yaml"), "namespace: "+other)
	assert.Contains(t, b.text("#svcat"), "--namespace="+other)
	b.sees("There is no button to create it, because svcat ui was started for namespace " + e.Namespace)
	b.behaved(address)

	kubeconfig, user := e.user()
	e.GrantClusterRole(user, "servicecatalog-catalog-view")
	e.GrantRole(user, "servicecatalog-view")
	b.open(e.serve(kubeconfig), "Types on offer")
	b.do(chromedp.SetValue("//input[@id='namespace']", other), clickOn("//header//button[normalize-space()='Go']"))
	b.sees(" in namespace " + other + ".")
}

// firstOf are the first cells of rows.
func firstOf(rows [][]string) []string {
	var cells []string
	for _, row := range rows {
		cells = append(cells, row[0])
	}
	return cells
}

// becomesReady is what a controller writes of an instance that its broker has made.
func (e *testEnv) becomesReady(name string) {
	e.Helper()
	instance := &v1beta1.ServiceInstance{}
	require.NoError(e, e.Client().Get(e.Context(), client.ObjectKey{Namespace: e.Namespace, Name: name}, instance))
	before := client.MergeFrom(instance.DeepCopy())
	instance.Status.Conditions = []v1beta1.Condition{{Type: v1beta1.ConditionReady, Status: v1beta1.ConditionTrue, Reason: "ProvisionedSuccessfully", Message: "It is there"}}
	require.NoError(e, e.Client().Status().Patch(e.Context(), instance, before))
}

// press types keys.
func (b *browser) press(keys string) {
	b.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// mostTabs is how often a person presses Tab before giving up.
const mostTabs = 60

// tabTo presses Tab until what is called so has the focus.
func (b *browser) tabTo(name string) {
	b.Helper()
	b.walkTo(name)
}

// tabBackTo is the same in the other direction.
func (b *browser) tabBackTo(name string) {
	b.Helper()
	b.walkTo(name, chromedp.KeyModifiers(chromedp.ModifierShift))
}

func (b *browser) walkTo(name string, how ...chromedp.KeyOption) {
	b.Helper()
	var passed []string
	for range mostTabs {
		b.do(chromedp.KeyEvent(kb.Tab, how...))
		at := ask(b, chromedp.Evaluate[string](focused))
		if at == name {
			return
		}
		passed = append(passed, at)
	}
	require.Contains(b, passed, name, "no Tab leads there")
}

// focused is what the element with the focus is called.
const focused = `(e => (e.labels?.[0]?.innerText || e.getAttribute("aria-label") || e.innerText || "").trim().replace(/\s+/g, " "))(document.activeElement)`
