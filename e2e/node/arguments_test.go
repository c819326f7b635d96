package node

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	env := map[string]string{"NAMESPACE": "here", "EMPTY": ""}
	for name, tc := range map[string]struct {
		reason, text, want string
	}{
		"None":      {reason: "most arguments name none", text: "--log-level=info", want: "--log-level=info"},
		"Known":     {reason: "a variable of the container", text: "--namespace=$(NAMESPACE)/x", want: "--namespace=here/x"},
		"Empty":     {reason: "empty is a value", text: "a$(EMPTY)b", want: "ab"},
		"Unknown":   {reason: "a kubelet leaves it as it is", text: "$(NOPE)", want: "$(NOPE)"},
		"Escaped":   {reason: "two dollars are one", text: "$$(NAMESPACE)", want: "$(NAMESPACE)"},
		"Open":      {reason: "no end, no variable", text: "$(NAMESPACE", want: "$(NAMESPACE"},
		"NoBracket": {reason: "that is the shell's way", text: "$NAMESPACE", want: "$NAMESPACE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, expand(tc.text, env), tc.reason)
		})
	}
}

// What the manifest says stays; what the machine demands comes behind it, where the last
// one of a flag counts.
func TestArguments(t *testing.T) {
	t.Parallel()
	serving := []corev1.VolumeMount{{Name: "serving", MountPath: servingFolder}}
	for name, tc := range map[string]struct {
		reason string
		spec   corev1.Container
		want   []string
	}{
		"Daemon": {
			reason: "ports, the token and the folder that it looks in unless told otherwise",
			spec: corev1.Container{
				Command: []string{"/webhook"}, Args: []string{"--log-level=info"},
				Ports:        []corev1.ContainerPort{{Name: "hooks", ContainerPort: 9443}, {Name: "health", ContainerPort: 8081}},
				VolumeMounts: append([]corev1.VolumeMount{{Name: "token", MountPath: tokenFolder}}, serving...),
			},
			want: []string{
				"--log-level=info", "--cert-dir=/pod/volumes/serving", "--port=12001", "--bind-address=127.0.0.1",
				"--health-address=127.0.0.1:12002", "--kubeconfig=/pod/kubeconfig",
			},
		},
		"MovedPath": {
			reason: "a path in a volume is one of this machine; what only begins like it is not",
			spec: corev1.Container{
				Command: []string{"/webhook", "--cert-dir=" + servingFolder + "/sub"}, Args: []string{"--other=" + servingFolder + "2"}, VolumeMounts: serving,
			},
			want: []string{"--cert-dir=" + servingFolder + "/sub", "--other=" + servingFolder + "2", "--cert-dir=/pod/volumes/serving/sub"},
		},
		"AnyOther": {
			reason: "nothing is known of its flags",
			spec:   corev1.Container{Command: []string{"/svcat", "check"}, Ports: []corev1.ContainerPort{{Name: "health", ContainerPort: 8081}}},
			want:   []string{"check"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &container{pod: &pod{dir: "/pod", ports: ports{byNumber: map[int32]int{9443: 12001, 8081: 12002}}}, spec: &tc.spec}
			assert.Equal(t, tc.want, c.arguments(nil), tc.reason)
		})
	}
}
