package main

import (
	"os"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim/apple/abi"
)

func TestCommittedIsUpToDate(t *testing.T) {
	table, err := abi.LoadAll()
	if err != nil {
		t.Fatal(err)
	}
	want, err := prototypes(table)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../c/prototypes.h")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("c/prototypes.h is not what the table gives: run go generate ./metalshim/apple/standin")
	}
}

// The encodings with offsets are those that clang 19 puts into an object file
// for x86_64-apple-macos14, for the same declarations.
func TestPrototypes(t *testing.T) {
	text, err := prototypes(&abi.Table{Methods: []abi.Method{
		{Owner: "E", Selector: "dispatch:per:", Return: "v", Args: []string{"{?=QQQ}", "{?=QQQ}"}},
		{Owner: "E", Selector: "fill:range:value:", Return: "v", Args: []string{"@", "{_NSRange=QQ}", "C"}},
		{Owner: "E", Selector: "flag:next:", Return: "B", Args: []string{"B", "Q"}},
		{Owner: "E", Selector: "new", Class: true, Return: "@", Owned: true},
		{Owner: "E", Selector: "version", Return: "{?=qqq}"},
	}, Functions: map[string]string{"sel_registerName": ":*", "objc_autoreleasePoolPush": "^v"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"void i_E_dispatch_per_(id, SEL, MTLSize, MTLSize) BODY_OF;\n",
		`{"E", "dispatch:per:", "v64@0:8{?=QQQ}16{?=QQQ}40", (void *)i_E_dispatch_per_, 0, 0, 0},`,
		`"v44@0:8@16{_NSRange=QQ}24C40"`,
		"truth i_E_flag_next_(id, SEL, BOOL, u64) BODY_OF;\n", `"" BOOL_CODE "28@0:8" BOOL_CODE "16Q20"`,
		`{"E", "new", "@16@0:8", (void *)c_E_new, 1, 1, 0},`,
		`"{?=qqq}16@0:8", (void *)i_E_version, 0, 0, 1},`,
		"EXPORT void * objc_autoreleasePoolPush(void);\nEXPORT SEL sel_registerName(const char *);\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
	if _, err := prototypes(&abi.Table{Methods: []abi.Method{{Owner: "E", Selector: "x", Return: "s"}}}); err == nil {
		t.Error("an unknown type was taken")
	}
}
