package clang

import "slices"

// environment is all that a compiler or a linker sees of the environment. They
// look at dozens of variables: folders to search (CPATH, C_INCLUDE_PATH,
// COMPILER_PATH), arguments to add or drop (CCC_OVERRIDE_OPTIONS,
// CLANG_CONFIG_FILE…), what the clock says (SOURCE_DATE_EPOCH), libraries to be
// loaded into them (LD_PRELOAD, LD_LIBRARY_PATH). None of them is part of what is
// compiled, so none is handed on, and what comes out depends on what goes in. A
// compiler that cannot start without one is named by a script that sets it.
//
// PATH is there for such scripts, the epoch so that a source that gets at the
// date all the same has always the same one, and the language so that messages
// can be read.
var environment = []string{
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"LC_ALL=C",
	"TZ=UTC",
	"SOURCE_DATE_EPOCH=0",
}

// Environment is a copy of it, for those who start a compiler by other means.
func Environment() []string { return slices.Clone(environment) }
