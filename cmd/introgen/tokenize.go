package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/tokenizer"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/urfave/cli/v2"
)

func tokenizeCommand() *cli.Command {
	return &cli.Command{
		Name:  "tokenize",
		Usage: "print the token ids of a prompt, or the text of ids",
		Description: "Shows what `introgen cpu` and `introgen metal` pass to the model for the same flags: each token with\n" +
			"its id, its text and where that begins and ends, in bytes of the whole text, the chat template included.\n\n" +
			"Examples:\n" +
			"   introgen tokenize --prompt 'What is Rust?'\n" +
			"   introgen tokenize --ids --raw-prompt --prompt-file story.txt\n" +
			"   introgen cpu 1 --prompt-ids \"$(introgen tokenize --ids --prompt Hello)\"\n" +
			"   introgen tokenize --text --prompt-ids 504,260,7042\n" +
			"   introgen tokenize --json | jq '.tokens[].text'",
		Flags: slices.Concat([]cli.Flag{modelFlag(generatedModel)}, promptFlags("what to ask"), []cli.Flag{
			tokenizerFlag(),
			&cli.BoolFlag{Name: "ids", Usage: "print the ids only, with commas between them, as --prompt-ids takes them"},
			&cli.BoolFlag{Name: "text", Usage: "print the text only, as it is, without a line break behind it"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
			styleFlag(),
		}),
		Action: runTokenize,
	}
}

func runTokenize(c *cli.Context) (err error) {
	if c.Args().Present() {
		return usagef("tokenize takes no argument, got %q: --prompt or --prompt-file has the text", c.Args().First())
	}
	var forms []string
	for _, name := range []string{"ids", "text", "json", "style"} {
		if c.IsSet(name) {
			forms = append(forms, "--"+name)
		}
	}
	if len(forms) > 1 {
		return usagef("tokenize prints one thing: %s exclude each other", strings.Join(forms, " and "))
	}
	style, err := readStyle(c)
	if err != nil {
		return err
	}
	kind, err := readTokenizer(c)
	if err != nil {
		return err
	}
	path, err := findModel(c)
	if err != nil {
		return err
	}
	f, err := gguf.OpenWhole(path, gguf.MMap)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	v, err := newVocabulary(f, kind, sessionOf(c).note)
	if err != nil {
		return err
	}
	if !c.IsSet("prompt-ids") {
		if err := v.assume(); err != nil {
			return err
		}
	}
	p, err := promptSource(c, v)
	if err != nil {
		return err
	}
	ids := p.ids
	t := &tokenized{Model: filepath.Base(path), IDs: ids}
	if p.template != templateNone || p.templateWhy != "" { // else it was asked for
		t.Template, t.TemplateWhy = p.template, p.templateWhy
	}
	if t.Text, err = v.decode(ids); err != nil {
		return err
	}
	t.Tokenizer = v.tok.Name() // which decode may have exchanged
	switch {
	case c.Bool("ids"):
		_, err = fmt.Fprintln(c.App.Writer, idList(ids, len(ids)))
		return err
	case c.Bool("text"):
		_, err = io.WriteString(c.App.Writer, t.Text)
		return err
	}
	if err := t.cut(v.tok); err != nil {
		return err
	}
	if !c.Bool("json") {
		return t.document().Write(c.App.Writer, style)
	}
	enc := json.NewEncoder(c.App.Writer)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(t)
}

// tokenized is a text and its tokens.
type tokenized struct {
	Model     string `json:"model"`
	Tokenizer string `json:"tokenizer"`
	// Template is what the prompt was put into, and TemplateWhy why that one where
	// the choice was open; "" of ids and of --template none.
	Template    string  `json:"template,omitempty"`
	TemplateWhy string  `json:"template_why,omitempty"`
	Text        string  `json:"text"`
	IDs         []int32 `json:"ids"`
	Tokens      []token `json:"tokens"`
}

// token is one of them; Start and End are in bytes of the text.
type token struct {
	ID    int32  `json:"id"`
	Start int    `json:"start"`
	End   int    `json:"end"`
	Text  string `json:"text"`
	Bytes string `json:"bytes,omitempty"` // in hexadecimal, where they are no whole characters
	piece []byte
}

// cut finds the text of each id.
func (t *tokenized) cut(tok tokenizer.Tokenizer) error {
	pieces, err := tok.Pieces(t.IDs)
	if err != nil {
		return err
	}
	at := 0
	t.Tokens = []token{}
	for i, piece := range pieces {
		one := token{ID: t.IDs[i], Start: at, End: at + len(piece), Text: strings.ToValidUTF8(string(piece), "\uFFFD"), piece: piece}
		if !utf8.Valid(piece) {
			one.Bytes = hex.EncodeToString(piece)
		}
		t.Tokens = append(t.Tokens, one)
		at = one.End
	}
	return nil
}

// document shows every token. Texts stand in quotes, with what is no character
// of its own spelled out.
func (t *tokenized) document() *table.Document {
	d, bytes := &table.Document{}, 0
	tab := &table.Table{Columns: []table.Column{{Name: "token"}, {Name: "id"}, {Name: "begin"}, {Name: "end"}, {Name: "text", Left: true}}}
	for i, one := range t.Tokens {
		tab.Add(table.Texts(strconv.Itoa(i), strconv.Itoa(int(one.ID)), strconv.Itoa(one.Start), strconv.Itoa(one.End), strconv.Quote(string(one.piece)))...)
		bytes = one.End
	}
	d.Table(tab)
	d.Say("%s, tokenizer %s: %d tokens, %d bytes", t.Model, t.Tokenizer, len(t.Tokens), bytes)
	if t.Template != "" && t.TemplateWhy != experimentAsked { // whose prompt the docs describe
		d.Say("template %s", (&recording.Subject{Template: t.Template, TemplateWhy: t.TemplateWhy}).TemplateWords())
	}
	return d
}
