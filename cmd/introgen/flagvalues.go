package main

// optionalText is a flag that may stand alone (--nonce) or be given a text
// (--nonce=TEXT).
type optionalText struct {
	set  bool
	text string // "" where the flag stands alone
}

func (o *optionalText) IsBoolFlag() bool { return true }

func (o *optionalText) Set(s string) error {
	*o = optionalText{set: true, text: s}
	if s == "true" { // what package flag sets where no value is given
		o.text = ""
	}
	return nil
}

func (o *optionalText) String() string { return o.text }
