// Package order has the commands of developers: provision, deprovision, bind, unbind and touch.
package order
