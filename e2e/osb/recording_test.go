package osb_test

import (
	"encoding/json"
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// onlyDeadline reports whether two versions of an object differ in nothing but until when
// a call may take: where the API server is slow, an intent is written again with a later
// one, which is no write that a scenario counts.
func onlyDeadline(before, after client.Object) bool {
	one, first := withoutDeadline(before)
	other, second := withoutDeadline(after)
	return first && second && one == other
}

// withoutDeadline is an object as JSON without its call's deadline, and without what every
// write changes; false if there is no deadline.
func withoutDeadline(o client.Object) (string, bool) {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	var content object
	if err := json.Unmarshal(text, &content); err != nil {
		panic(err)
	}
	status, _ := content["status"].(object)
	_, has := status["callDeadline"]
	maps.DeleteFunc(status, func(key string, _ any) bool { return key == "callDeadline" })
	metadata, _ := content["metadata"].(object)
	maps.DeleteFunc(metadata, func(key string, _ any) bool { return key == "resourceVersion" || key == "managedFields" })
	text, err = json.Marshal(content)
	if err != nil {
		panic(err)
	}
	return string(text), has
}
