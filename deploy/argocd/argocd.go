// Package argocd holds what Argo CD is to know of the service catalog: health checks, in
// the layout of its own repository (GROUP/KIND/health.lua, with tests beside it), and
// argocd-cm.yaml, which has all of it for the ConfigMap of an Argo CD that exists.
//
// The Go code runs the checks as Argo CD does, and writes the ConfigMap; only tests use
// it. Where it is wired up is in docs/gitops.md.
package argocd

import (
	"embed"
	"fmt"
	"io/fs"
	"path"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Checks are the health checks with their tests.
//
//go:embed servicecatalog.k8s.io
var Checks embed.FS

// A Health is what Argo CD shows of an object: Healthy, Progressing or Degraded, and why.
type Health struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// HealthOf runs the check of an object's kind. It fails where there is none, and where it
// returns no table.
func HealthOf(o *unstructured.Unstructured) (Health, error) {
	kind := o.GroupVersionKind()
	script, err := Checks.ReadFile(path.Join(kind.Group, kind.Kind, "health.lua"))
	if err != nil {
		return Health{}, fmt.Errorf("cannot find a health check of %q: %w", kind.Kind, err)
	}
	// As Argo CD runs what is configured: without the libraries of Lua, but for two.
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return Health{}, fmt.Errorf("cannot open Lua's library %q: %w", name, err)
		}
	}
	state.SetGlobal("obj", luaOf(state, o.Object))
	if err := state.DoString(string(script)); err != nil {
		return Health{}, fmt.Errorf("cannot run the health check of %q: %w", kind.Kind, err)
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return Health{}, fmt.Errorf("cannot use what the health check of %q returns: it is no table", kind.Kind)
	}
	return Health{Status: lua.LVAsString(table.RawGetString("status")), Message: lua.LVAsString(table.RawGetString("message"))}, nil
}

// luaOf is a value of JSON as Lua has it.
func luaOf(state *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case bool:
		return lua.LBool(v)
	case string:
		return lua.LString(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	case []any:
		list := state.CreateTable(len(v), 0)
		for _, item := range v {
			list.Append(luaOf(state, item))
		}
		return list
	case map[string]any:
		table := state.CreateTable(0, len(v))
		for key, item := range v {
			table.RawSetString(key, luaOf(state, item))
		}
		return table
	}
	return lua.LNil
}

// ignored are the differences that are none, as jq expressions, by GROUP_KIND: the
// authorities that the webhook or cert-manager writes into the hooks, and the mark of a
// default, which the keeper moves.
var ignored = map[string][]string{
	"admissionregistration.k8s.io_MutatingWebhookConfiguration":   {".webhooks[]?.clientConfig.caBundle"},
	"admissionregistration.k8s.io_ValidatingWebhookConfiguration": {".webhooks[]?.clientConfig.caBundle"},
	"servicecatalog.k8s.io_ClusterServicePlan":                    {`.metadata.annotations["servicecatalog.kubernetes.io/is-default-plan"]`},
	"servicecatalog.k8s.io_ServicePlan":                           {`.metadata.annotations["servicecatalog.kubernetes.io/is-default-plan"]`},
}

const configMapHead = `# Generated from the health checks beside it: do not edit. To be merged into the ConfigMap
# of that name, as with kubectl patch configmap argocd-cm -n argocd --patch-file.
`

// ConfigMap is argocd-cm.yaml.
func ConfigMap() ([]byte, error) {
	data := map[string]string{}
	scripts, err := fs.Glob(Checks, "*/*/health.lua")
	if err != nil {
		return nil, fmt.Errorf("cannot find the health checks: %w", err)
	}
	for _, name := range scripts {
		script, err := Checks.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("cannot read %q: %w", name, err)
		}
		group, kind := path.Split(path.Dir(name))
		data["resource.customizations.health."+path.Clean(group)+"_"+kind] = string(script)
	}
	for kind, expressions := range ignored {
		text, err := yaml.Marshal(map[string]any{"jqPathExpressions": expressions})
		if err != nil {
			return nil, fmt.Errorf("cannot write what is ignored of %q: %w", kind, err)
		}
		data["resource.customizations.ignoreDifferences."+kind] = string(text)
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "argocd-cm", "namespace": "argocd"}, "data": data,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot write the ConfigMap: %w", err)
	}
	return append([]byte(configMapHead), text...), nil
}
