package main

import (
	"os"
	"testing"

	"github.com/introgen/introgen/metalshim/apple/abi"
)

func TestCommittedIsUpToDate(t *testing.T) {
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../include/Metal/Metal.h")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != header(table) {
		t.Error("include/Metal/Metal.h is not what the table gives: run go generate ./metalshim/apple/standin/sdk")
	}
}
