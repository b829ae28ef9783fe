//go:build linux && (amd64 || arm64)

package record_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/introgen/introgen/metalshim/apple/standin/beside"
	"github.com/introgen/introgen/metalshim/recorder"
	"github.com/introgen/introgen/metalshim/shimtest"
	"github.com/introgen/introgen/metalshim/soft"
	"github.com/introgen/introgen/record"
	"github.com/introgen/introgen/record/executable"
	"github.com/introgen/introgen/record/launch"
	"github.com/introgen/introgen/record/marks"
	"github.com/introgen/introgen/results/recording"
)

// TestMain lets this binary be the device of the programs that it records.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "metal-device" {
		if err := serve(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	remove := shimtest.CacheFolder()
	code := m.Run()
	remove()
	os.Exit(code)
}

func serve() error {
	beside.IgnoreSignals()
	beside.Parent(3)
	d, err := soft.Open(context.Background(), soft.Options{})
	if err != nil {
		return beside.Serve(context.Background(), 3, nil, beside.Facts{Failure: err.Error()})
	}
	return beside.Serve(context.Background(), 3, d, beside.Facts{AppleFamily: 7})
}

// recorded is what became of a program, and of its recording.
type recorded struct {
	*record.Result
	*recording.File
	out, errs bytes.Buffer
}

// run records a program, whose recording must be one of which a reader has nothing
// to warn.
func run(t *testing.T, edit func(*record.Options), args ...string) *recorded {
	t.Helper()
	library, err := recorder.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := executable.Find(args[0])
	if err != nil {
		t.Fatal(err)
	}
	x := &recorded{}
	var file []byte
	o := record.Options{
		Program: found, Args: args, Env: os.Environ(), Library: library,
		Streams: launch.Options{Stdout: &x.out, Stderr: &x.errs},
		Header:  recording.Header{Format: recording.Format, Version: recording.Version, Command: "record", Args: args},
		Put: func(e recording.Event) {
			var err error
			if file, err = recording.Encode(file, e); err != nil {
				t.Error(err)
			}
		},
		Flush: func() {},
	}
	if edit != nil {
		edit(&o)
	}
	if x.Result, err = record.Run(o); err != nil {
		t.Fatal(err)
	}
	if x.File, err = recording.Read(bytes.NewReader(file), ""); err != nil {
		t.Fatalf("%v in\n%.2000s", err, file)
	}
	for _, w := range x.Warnings {
		t.Errorf("a reader warns: %s", w)
	}
	return x
}

func mark(t *testing.T, text string) marks.Mark {
	t.Helper()
	m, err := marks.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
