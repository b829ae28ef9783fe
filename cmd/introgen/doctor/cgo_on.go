//go:build cgo

package doctor

const cgoBuiltIn = true
