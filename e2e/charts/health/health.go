// Package health runs the health checks of deploy/argocd as Argo CD does.
package health

import (
	"fmt"
	"path"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/defaultplan/defaultplan/deploy/argocd"
)

// A Result is what Argo CD shows of an object: Healthy, Progressing or Degraded, and why.
type Result struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// Check runs the check of an object's kind. It fails where there is none, and where it
// returns no table.
func Check(o *unstructured.Unstructured) (Result, error) {
	kind := o.GroupVersionKind()
	script, err := argocd.Checks.ReadFile(path.Join(kind.Group, kind.Kind, "health.lua"))
	if err != nil {
		return Result{}, fmt.Errorf("cannot find a health check of %q: %w", kind.Kind, err)
	}
	// As Argo CD runs what is configured: without the libraries of Lua, but for two.
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return Result{}, fmt.Errorf("cannot open Lua's library %q: %w", name, err)
		}
	}
	state.SetGlobal("obj", luaOf(state, o.Object))
	if err := state.DoString(string(script)); err != nil {
		return Result{}, fmt.Errorf("cannot run the health check of %q: %w", kind.Kind, err)
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return Result{}, fmt.Errorf("cannot use what the health check of %q returns: it is no table", kind.Kind)
	}
	return Result{Status: lua.LVAsString(table.RawGetString("status")), Message: lua.LVAsString(table.RawGetString("message"))}, nil
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
