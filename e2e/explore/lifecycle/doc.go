// Package lifecycle explores one instance, or one binding whose credentials rotate, with the truth
// at its broker beside it: crashes, lost replies and requests that arrive late, in every order.
// Next and HandleResult of osb/lifecycle make the decisions.
package lifecycle
