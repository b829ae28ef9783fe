package jinja

// expression is what has a value, statement what writes or changes something.
type expression interface {
	eval(r *run, s *scope) any
}

type statement interface {
	exec(r *run, s *scope) flow
}

// flow is what follows a statement.
type flow int

const (
	onward flow = iota
	breaks
	continues
)

// at is the line of a node that may fail.
type at int

type (
	constant struct{ value any }
	name     struct {
		at
		name string
	}
	attribute struct {
		at
		of   expression
		name string
	}
	item struct {
		at
		of, index expression
	}
	slicing struct { // only as an item's index; nil where nothing stands
		from, to, step expression
	}
	arguments struct {
		plain       []expression
		named       []named
		list, dicts expression // behind * and **, or nil
	}
	named struct {
		name  string
		value expression
	}
	call struct {
		at
		callee expression
		args   arguments
	}
	filtering struct {
		at
		of   expression // nil in a block: its text
		name string
		args arguments
	}
	asking struct {
		at
		of   expression
		name string
		args arguments
	}
	unary struct {
		at
		op string
		of expression
	}
	binary struct {
		at
		op          string
		left, right expression
	}
	concat  struct{ parts []expression }
	compare struct {
		at
		first expression
		rest  []comparison
	}
	comparison struct {
		op    string
		right expression
	}
	logical struct {
		or          bool
		left, right expression
	}
	not         struct{ of expression }
	conditional struct {
		at
		condition, yes, no expression // no may be nil
	}
	sequence struct {
		items []expression
		tuple bool
	}
	dict struct {
		at
		keys, values []expression
	}
)

type (
	data   struct{ text string }
	output struct {
		at
		of expression
	}
	branch struct {
		condition expression // nil: else
		body      []statement
	}
	ifs   struct{ branches []branch }
	loops struct {
		at
		target     target
		over, when expression // when may be nil
		body, none []statement
		recursive  bool
	}
	assign struct {
		at
		target target
		value  expression
	}
	assignBlock struct {
		at
		target target
		filter expression // nil, or a chain of filters whose innermost has no operand
		body   []statement
	}
	parameters struct {
		names    []string
		defaults []expression // of the last ones
	}
	macro struct {
		at
		name       string
		parameters parameters
		body       []statement
		// What its body names, and so takes.
		takesCaller, takesRest, takesNamed bool
	}
	callBlock struct {
		at
		call   *call
		caller *macro
	}
	filterBlock struct {
		at
		filter expression
		body   []statement
	}
	with struct {
		at
		targets []target
		values  []expression
		body    []statement
	}
	block struct{ body []statement } // whose variables are its own
	jump  struct{ flow flow }
)

// target is what an assignment gives a value to: a name, an attribute of a
// namespace, or a tuple of targets.
type target struct {
	at
	name, attribute string
	parts           []target
}
