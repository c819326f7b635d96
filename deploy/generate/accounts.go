package main

import (
	"regexp"
	"strings"
)

// A ServiceAccount of ours: where it is defined, where a binding or a flow schema names it, and
// where it is a user.
var (
	account  = regexp.MustCompile(`^(apiVersion: v1\nkind: ServiceAccount\nmetadata:\n)(  name: )defaultplan-(webhook|keeper|controller)\n`)
	subject  = regexp.MustCompile(`(kind: ServiceAccount\n(?: +serviceAccount:\n +namespace: \S+\n)? +name: )defaultplan-(webhook|keeper|controller)\n`)
	userName = regexp.MustCompile(`(system:serviceaccount:` + namespace + `:)defaultplan-(webhook|keeper|controller)\b`)
)

// accountOf is the name of a component's ServiceAccount in a template.
func accountOf(component string) string {
	return `include "defaultplan.serviceAccount" (dict "root" . "component" "` + component + `")`
}

// withAccounts has a template name the ServiceAccounts as the values do. A name that is a whole value
// is quoted where it must be: a ServiceAccount may be called 42.
func withAccounts(document string) string {
	document = leases.Replace(document)
	document = account.ReplaceAllString(document, "${1}"+
		"  {{- with .Values.$3.serviceAccount.annotations }}\n"+
		"  annotations:\n"+
		"    {{- toYaml . | nindent 4 }}\n"+
		"  {{- end }}\n"+
		"${2}{{ "+accountOf("$3")+" | toYaml }}\n")
	document = subject.ReplaceAllString(document, "${1}{{ "+accountOf("$2")+" | toYaml }}\n")
	return userName.ReplaceAllString(document, "${1}{{ "+accountOf("$2")+" }}")
}

const (
	// renamed is whether those that hold Leases have other accounts than as shipped.
	renamed = "{{- if or .Values.keeper.serviceAccount.name .Values.controller.serviceAccount.name }}\n"

	holders = "request.userInfo.username.matches('^system:serviceaccount:" + namespace + ":defaultplan-(keeper$|controller)')\n"
	lease   = "variables.account\n"
)

// leases are the expressions of the policy for Leases, and the same in the chart. As shipped, a Lease
// has the name of an account. In the chart, a controller with a name has the account of one without,
// and an account may have another name, while the Leases keep theirs.
var leases = strings.NewReplacer(
	"expression: >-\n      "+holders,
	"expression: >-\n"+
		"      "+renamed+
		"      request.userInfo.username == 'system:serviceaccount:"+namespace+":defaultplan-keeper' ||\n"+
		"      request.userInfo.username.startsWith('system:serviceaccount:"+namespace+":defaultplan-controller')\n"+
		"      {{- else }}\n"+
		"      "+holders+
		"      {{- end }}\n",
	"expression: "+lease,
	"expression: >-\n"+
		"      {{- if .Values.controller.name }}\n"+
		"      variables.account == '{{ "+accountOf("controller")+" }}' ? 'defaultplan-controller-{{ .Values.controller.name }}' :\n"+
		"      {{- end }}\n"+
		"      "+renamed+
		"      variables.account == '{{ "+accountOf("keeper")+" }}' ? 'defaultplan-keeper' :\n"+
		"      variables.account.replace('{{ "+accountOf("controller")+" }}', 'defaultplan-controller', 1)\n"+
		"      {{- else }}\n"+
		"      "+lease+
		"      {{- end }}\n",
)
