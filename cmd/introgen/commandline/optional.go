package commandline

// OptionalText is the value of a flag that may stand alone (--nonce) or be given a
// text (--nonce=TEXT).
type OptionalText struct {
	Given bool
	Text  string // "" where the flag stands alone
}

// IsBoolFlag tells package flag that the flag may stand alone.
func (o *OptionalText) IsBoolFlag() bool { return true }

// Set takes the text.
func (o *OptionalText) Set(s string) error {
	*o = OptionalText{Given: true, Text: s}
	if s == "true" { // what package flag sets where no value is given
		o.Text = ""
	}
	return nil
}

func (o *OptionalText) String() string { return o.Text }
