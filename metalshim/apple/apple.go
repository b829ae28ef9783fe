// Package apple drives the real Metal, through Objective-C messages and
// without cgo.
package apple
