// Package order has the commands of developers: provision, deprovision, bind, unbind, touch and rotate.
package order
