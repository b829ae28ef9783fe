// Package examples holds programs for readers to copy: what unmodified crates,
// and C, need to use Metal where no Mac is. Its tests build and run them.
package examples
