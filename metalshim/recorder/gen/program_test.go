package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim/apple/abi"
)

// classes are the classes of testdata/runtime.c that objects of a role have.
var classes = map[string][]string{
	"DEVICE": {"Device"}, "LIBRARY": {"Library"}, "FUNCTION": {"Function"}, "CONSTANTS": {"MTLFunctionConstantValues"}, "ARCHIVE": {"Archive"},
	"BUFFER": {"Buffer"}, "HEAP": {"Heap"}, "QUEUE": {"Queue"}, "COMMANDS": {"Commands"}, "QUEUE4": {"Queue4"}, "COMMANDS4": {"Commands4"}, "COMPUTE": {"Compute"}, "BLIT": {"Blit"},
	"ENCODER": {"Encoder"}, "SHARED_EVENT": {"SharedEvent"}, "COMPILER": {"Compiler"}, "CONSTANTS_CLASS": {"MTLFunctionConstantValues"},
}

// result is the class of what a method gives.
func result(selector string) string {
	for _, r := range []struct{ prefix, class string }{
		{"newMTL4CommandQueue", "Queue4"}, {"newCommandBuffer", "Commands4"}, {"newCommandQueue", "Queue"}, {"newBuffer", "Buffer"}, {"newLibrary", "Library"}, {"newDefaultLibrary", "Library"}, {"newComputePipeline", "Pipeline"},
		{"newRenderPipeline", "Pipeline"}, {"newBinaryArchive", "Archive"}, {"newHeap", "Heap"}, {"newSharedEvent", "SharedEvent"}, {"newCompiler", "Compiler"},
		{"newFunction", "Function"}, {"computeCommandEncoder", "Compute"}, {"blitCommandEncoder", "Blit"}, {"commandBuffer", "Commands"},
		{"new", "MTLFunctionConstantValues"},
	} {
		if strings.HasPrefix(selector, r.prefix) {
			return r.class
		}
	}
	return "Encoder"
}

// reflected are the methods whose handler is given a reflection, too.
var reflected = map[string]bool{
	"newComputePipelineStateWithFunction:options:completionHandler:":   true,
	"newComputePipelineStateWithDescriptor:options:completionHandler:": true,
}

// recorders says what is not the program's doing: a recorder gives every command
// buffer a global block, and makes one MTLFunctionConstantValues to learn its
// class.
var recorders = map[string]string{
	"addCompletedHandler:": "\tif (a0->isa == _NSConcreteGlobalBlock) {\n\t\tself->handlers[self->handler_count++] = a0;\n\t\treturn;\n\t}\n",
	"init":                 "\tif (!begun) return self;\n",
	"new":                  "\tif (!begun) return make((struct class *)self);\n",
}

// silent is what a body without a result does where calls are timed: nothing.
func silent(h *hook) string {
	if h.types[0] == "v" {
		return "\tif (timing) return;\n"
	}
	return ""
}

// bodies writes a body for each hook, which says what it is given.
func bodies(b *strings.Builder, hooks []hook) {
	for i := range hooks {
		h := &hooks[i]
		parameters := "id self, SEL cmd"
		for k, t := range h.types[3:] {
			parameters += fmt.Sprintf(", %s a%d", abi.CTypes[t].Name, k)
		}
		fmt.Fprintf(b, "static %s f_%s(%s) {\n\t(void)cmd;\n%s%s\tsay(\"%s\");\n\tsay_object(self);\n",
			abi.CTypes[h.types[0]].Name, h.symbol(), parameters, silent(h), recorders[h.selector], h.selector)
		block := ""
		for k, t := range h.types[3:] {
			a := fmt.Sprintf("a%d", k)
			switch t {
			case "@":
				fmt.Fprintf(b, "\tsay_object(%s);\n", a)
			case "@?":
				block = a
			case "^@":
				fmt.Fprintf(b, "\tsay(\" %%s\", %s ? \"place\" : \"null\");\n", a)
			case "^v":
				fmt.Fprintf(b, "\tsay(\" %%d\", *(int *)%s);\n", a)
			case "{?=QQQ}":
				fmt.Fprintf(b, "\tsay(\" %%d,%%d,%%d\", (int)%s.width, (int)%s.height, (int)%s.depth);\n", a, a, a)
			case "{_NSRange=QQ}":
				fmt.Fprintf(b, "\tsay(\" %%d+%%d\", (int)%s.location, (int)%s.length);\n", a, a)
			default:
				fmt.Fprintf(b, "\tsay(\" %%d\", (int)%s);\n", a)
			}
		}
		b.WriteString("\tsay(\"\\n\");\n")
		b.WriteString(behaviour(h, block))
		b.WriteString("}\n")
	}
}

// behaviour is what a body does with its block, and what it gives.
func behaviour(h *hook, block string) string {
	var b strings.Builder
	last := fmt.Sprintf("a%d", len(h.types)-4)
	switch {
	case strings.HasSuffix(h.selector, "ompletionHandler:"):
		object := "make_named(\"" + result(h.selector) + "\")"
		call := "((void (*)(struct block *, id, id))kept->invoke)(kept, " + object + ", NULL)"
		if reflected[h.selector] {
			call = "((void (*)(struct block *, id, id, id))kept->invoke)(kept, " + object + ", make_named(\"Reflection\"), NULL)"
		}
		fmt.Fprintf(&b, "\tstruct block *kept = _Block_copy(%s);\n\tspoil();\n\t%s;\n\t_Block_release(kept);\n", block, call)
		if h.types[0] == "@" {
			b.WriteString("\treturn make_named(\"Task\");\n")
		}
		return b.String()
	case strings.HasPrefix(h.selector, "add") && block != "":
		fmt.Fprintf(&b, "\tself->handlers[self->handler_count++] = _Block_copy(%s);\n\tspoil();\n", block)
	case strings.HasPrefix(h.selector, "notifyListener"):
		fmt.Fprintf(&b, "\tstruct block *kept = _Block_copy(%s);\n\tspoil();\n\t((void (*)(struct block *, id, u64))kept->invoke)(kept, self, a1);\n\t_Block_release(kept);\n", block)
	case block != "":
		fmt.Fprintf(&b, "\tsay(\"  with %%llx\\n\", (unsigned long long)%s->captured);\n", block)
	case h.selector == "commit":
		b.WriteString("\tfor (int i = 0; i < self->handler_count; i++) {\n\t\t((void (*)(struct block *, id))self->handlers[i]->invoke)(self->handlers[i], self);\n\t\t_Block_release(self->handlers[i]);\n\t}\n\tself->handler_count = 0;\n")
	}
	place := h.types[len(h.types)-1] == "^@"
	switch h.types[0] {
	case "B":
		b.WriteString("\treturn 0xff;\n") // anything but 0
	case "@":
		if place {
			fmt.Fprintf(&b, "\tif (failing) {\n\t\tif (%s) *%s = failure();\n\t\treturn NULL;\n\t}\n\tif (%s) *%s = (id)1;\n", last, last, last, last)
		}
		switch h.selector {
		case "init":
			b.WriteString("\treturn self;\n")
		case "newComputePipelineStateWithFunction:error:":
			// One form calls another, as Metal's do.
			b.WriteString("\treturn ((id (*)(id, SEL, id, u64, id *, id *))message)(self, sel_registerName(\"newComputePipelineStateWithFunction:options:reflection:error:\"), a0, 0, NULL, a1);\n")
		case "commandBuffer":
			b.WriteString("\treturn objc_autorelease(next_commands ? next_commands : make_named(\"Commands\"));\n")
		default:
			made := fmt.Sprintf("make_named(%q)", result(h.selector))
			if h.borrowed() {
				made = "objc_autorelease(" + made + ")"
			}
			fmt.Fprintf(&b, "\treturn %s;\n", made)
		}
	}
	return b.String()
}

// argument is what a call gives for a type.
func argument(h *hook, i, k int) string {
	switch t := h.types[3+k]; t {
	case "@":
		if strings.HasPrefix(h.selector, "newLibraryWithDescriptor") {
			return "described()"
		}
		return fmt.Sprintf("string(\"%d.%d\")", i, k)
	case "@?":
		switch {
		case reflected[h.selector]:
			return "stack_block(called3)"
		case strings.HasSuffix(h.selector, "ompletionHandler:"):
			return "stack_block(called2)"
		case strings.HasPrefix(h.selector, "notifyListener"):
			return "stack_block(called_value)"
		}
		return "stack_block(called1)"
	case "^@":
		switch h.selector {
		case "memoryBarrierWithResources:count:":
			return "resources"
		case "commit:count:", "commit:count:options:":
			return "two"
		}
		return "&error"
	case "^v":
		return "memory"
	case "{?=QQQ}":
		return fmt.Sprintf("((MTLSize){%d, %d, %d})", 10*k+1, 10*k+2, 10*k+3)
	case "{_NSRange=QQ}":
		return "((NSRange){3, 2})"
	case "C":
		return "200"
	default:
		switch {
		case strings.Contains(h.selector, "type:") && k == 1:
			return "29" // MTLDataTypeInt
		case strings.HasPrefix(h.selector, "commit:count:"):
			return "2"
		}
		return fmt.Sprint(100*i + k + 1)
	}
}

// calls writes a function for each hook that sends its message.
func calls(b *strings.Builder, hooks []hook) {
	for i := range hooks {
		h := &hooks[i]
		result := abi.CTypes[h.types[0]].Name
		types, passed := "id, SEL", "self, s"
		for k, t := range h.types[3:] {
			types += ", " + abi.CTypes[t].Name
			passed += ", " + argument(h, i, k)
		}
		fmt.Fprintf(b, "static void c_%s(id self) {\n\tSEL s = sel_registerName(%q);\n\tbegin(s, self);\n\t", h.symbol(), h.selector)
		switch result {
		case "id":
			b.WriteString("id made = ")
		case "BOOL":
			b.WriteString("BOOL made = ")
		}
		fmt.Fprintf(b, "((%s (*)(%s))message)(%s);\n", result, types, passed)
		switch result {
		case "id":
			b.WriteString("\tgave(made);\n")
		case "BOOL":
			b.WriteString("\tsay(\" = %d\\n\", made);\n")
		}
		b.WriteString("}\n")
	}
}

// program is the whole text of the library that the test's program is linked
// with.
func program(t testing.TB, hooks []hook) string {
	t.Helper()
	var b strings.Builder
	for _, name := range []string{"runtime.c", "play.c"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
		if name == "runtime.c" {
			bodies(&b, hooks)
			calls(&b, hooks)
			methods(&b, hooks)
			messages(&b, hooks)
		}
	}
	return b.String()
}

// methods writes a function that gives the classes their methods, with type
// encodings as a runtime has them: with offsets.
func methods(b *strings.Builder, hooks []hook) {
	b.WriteString("static void add_methods(void) {\n")
	for i := range hooks {
		h := &hooks[i]
		types := h.types[0] + "16@0:8"
		for k, t := range h.types[3:] {
			types += fmt.Sprintf("%s%d", t, 16+8*k)
		}
		for _, role := range h.roles {
			for _, class := range classes[role] {
				c := fmt.Sprintf("objc_getClass(%q)", class)
				if role == "CONSTANTS_CLASS" {
					c += "->isa"
				}
				if h.selector == "new" || h.selector == "init" {
					b.WriteString("\tif (!getenv(\"PLAIN\"))\n\t")
				}
				fmt.Fprintf(b, "\tadd_method(%s, %q, %q, f_%s);\n", c, h.selector, types, h.symbol())
			}
		}
	}
	b.WriteString("}\n")
}

// messages writes a function that sends every message to an object of each role
// that has it.
func messages(b *strings.Builder, hooks []hook) {
	b.WriteString("static void send_all(void) {\n")
	for i := range hooks {
		h := &hooks[i]
		for _, role := range h.roles {
			fmt.Fprintf(b, "\tc_%s(%s);\n", h.symbol(), role)
		}
	}
	b.WriteString("}\n")
}
