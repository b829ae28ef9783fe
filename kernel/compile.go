package kernel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/introgen/introgen/metalshim"
)

// Compile makes the library and every pipeline of the source, at most threads at
// once, and adds to the listing what became of them. What is wrong with a source or
// a kernel is told there; an error is one of ctx.
func (s *Source) Compile(ctx context.Context, d metalshim.Device, threads int, l *Listing) error {
	began := time.Now()
	library, err := d.NewLibrary(ctx, s.Metal())
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		l.Failed = brief(s.explain(err))
		return nil
	}
	defer library.Release()
	l.Compiled, l.Seconds = true, time.Since(began).Seconds()
	l.meet(library.FunctionNames())
	zeros := l.zeros()
	var all sync.WaitGroup
	slots := make(chan struct{}, max(1, threads))
	for i := range l.Kernels {
		k := &l.Kernels[i]
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			k.Pipeline = made(ctx, library, k.Name, zeros)
		})
	}
	all.Wait()
	return ctx.Err()
}

// meet adds the kernels that the device has found and the reader has not.
func (l *Listing) meet(names []string) {
	known := map[string]bool{}
	for _, k := range l.Kernels {
		known[k.Name] = true
	}
	for _, name := range names {
		if !known[name] {
			l.Kernels = append(l.Kernels, Kernel{Name: name, Arguments: []Argument{}})
		}
	}
}

// zeros are values of nothing for the constants whose types can be given.
func (l *Listing) zeros() []metalshim.Constant {
	var out []metalshim.Constant
	for _, c := range l.Constants {
		if t, ok := TypeNamed(c.Type); ok {
			out = append(out, metalshim.Constant{Index: c.Index, Type: t})
		}
	}
	return out
}

// made makes a pipeline. Where constants are missing it is tried with zeros.
func made(ctx context.Context, library metalshim.Library, function string, zeros []metalshim.Constant) *Made {
	if ctx.Err() != nil {
		return nil
	}
	m := &Made{}
	began := time.Now()
	p, err := library.NewPipeline(ctx, function, nil)
	if err != nil && len(zeros) > 0 {
		// Drivers say in different ways that a constant is missing.
		first := err
		var missing *metalshim.FunctionError
		if p, err = library.NewPipeline(ctx, function, zeros); err == nil || errors.As(first, &missing) && missing.Reason != "" {
			m.Wants = brief(first)
		} else {
			err = first
		}
	}
	m.Seconds = time.Since(began).Seconds()
	if err != nil {
		m.Failed = brief(err)
		return m
	}
	defer p.Release()
	m.MaxThreads, m.Width, m.ThreadgroupMemory = p.MaxThreadsPerThreadgroup(), p.ThreadExecutionWidth(), p.StaticThreadgroupMemory()
	m.Bytes = p.Evidence().Bytes
	return m
}

// TypeNamed is the type of a function constant by its name in MSL.
func TypeNamed(name string) (metalshim.ConstantType, bool) {
	name = strings.TrimPrefix(name, "metal::")
	if other, ok := otherNames[name]; ok {
		name = other
	}
	for t := metalshim.ConstantType(0); t <= metalshim.Bool; t++ {
		if t.Known() && t.String() == name {
			return t, true
		}
	}
	return 0, false
}

var otherNames = map[string]string{"int32_t": "int", "uint32_t": "uint", "int16_t": "short", "uint16_t": "ushort",
	"int8_t": "char", "uint8_t": "uchar", "unsigned int": "uint", "unsigned": "uint", "unsigned short": "ushort", "unsigned char": "uchar"}

// brief is an error in one line: of a compiler's the first message that is an error.
func brief(err error) string {
	var e *metalshim.CompileError
	if errors.As(err, &e) {
		errs := 0
		first := ""
		for _, d := range e.Diagnostics {
			if d.Severity != "error" {
				continue
			}
			if errs++; errs == 1 {
				first = fmt.Sprintf("%s:%d:%d: %s", d.File, d.Line, d.Column, d.Message)
			}
		}
		if errs > 1 {
			first += fmt.Sprintf(" (and %d more errors)", errs-1)
		}
		if first != "" {
			return first
		}
	}
	const most = 400
	line := strings.Join(strings.Fields(err.Error()), " ")
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + " …"
	}
	return line
}
