package controller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/defaultplan/defaultplan/api/v1beta1"
)

func TestDues(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	d := newDues()
	one, other := &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{UID: "1"}}, &v1beta1.ServiceBinding{ObjectMeta: metav1.ObjectMeta{UID: "2"}}
	assert.LessOrEqual(t, d.wait(one, now), time.Duration(0), "a process that starts anew polls at once")
	d.set(one, now.Add(time.Minute))
	assert.Equal(t, 40*time.Second, d.wait(one, now.Add(20*time.Second)))
	assert.LessOrEqual(t, d.wait(other, now), time.Duration(0), "each has its own")
	assert.LessOrEqual(t, d.wait(one, now.Add(time.Minute)), time.Duration(0))
	assert.Empty(t, d.at, "what is due is forgotten")
}
