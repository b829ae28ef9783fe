package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/bench"
	"github.com/introgen/introgen/engine/chat"
	"github.com/introgen/introgen/engine/chat/jinja"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/sanitize"
	"github.com/urfave/cli/v2"
)

// The words that --template takes besides files.
const (
	templateAuto = "auto"
	templateNone = recording.NoTemplate
)

// experimentAsked is why auto takes chatml of the experiment's model.
const experimentAsked = "the experiment asked so"

// keyTemplate has the chat template in a model's file.
const keyTemplate = "tokenizer.chat_template"

// template is what a prompt is put into.
type template struct {
	*chat.Template        // nil: the text as it is
	name           string // "none", "chatml", "the file's", or a file's name
	why            string // why that one where the choice was open, as it stands behind "since"
	whose          string // as errors call it
}

// readTemplate reads which template --template asks for, of a model's file.
func readTemplate(c *cli.Context, f *gguf.File) (template, error) {
	asked := c.String("template")
	if c.Bool("raw-prompt") {
		if c.IsSet("template") && asked != templateNone {
			return template{}, usagef("--raw-prompt is --template none: it has no meaning with --template %s", asked)
		}
		asked = templateNone
	}
	switch asked {
	case "":
		return template{}, usagef("--template is empty: auto, none, chatml or a file is wanted")
	case templateNone:
		return template{name: templateNone}, nil
	case templateAuto:
		return templateOf(f)
	}
	if t, known := chat.Named(asked); known {
		return template{Template: t, name: asked, whose: "the chat template " + asked}, nil
	}
	text, err := readText(c.Context, "--template", asked, strings.NewReader(""), jinja.MaxSource)
	if err != nil {
		return template{}, fmt.Errorf("%w; auto, none, chatml or a file is wanted", err)
	}
	return parseTemplate(text, template{name: sanitize.Line(filepath.Base(asked)), whose: "the chat template " + asked})
}

// templateOf is the template of auto: the experiment's of its model, else the
// file's own, else none.
func templateOf(f *gguf.File) (template, error) {
	file := filepath.Base(f.Path)
	general, _, err := f.String("general.name")
	if err == nil && models.IsExperiment(file, general) {
		t, _ := chat.Named(chat.ChatML)
		return template{Template: t, name: chat.ChatML, why: experimentAsked, whose: "the chat template chatml"}, nil
	}
	source, given, err := f.String(keyTemplate)
	switch {
	case err != nil:
		return template{}, fmt.Errorf("%w; --template chatml, none or a FILE takes another", err)
	case !given:
		return template{name: templateNone, why: "the file has none", whose: file + " has no chat template"}, nil
	}
	return parseTemplate(strings.Clone(source), template{name: "the file's", whose: "the chat template of " + file})
}

func parseTemplate(source string, t template) (_ template, err error) {
	t.Template, err = chat.Parse(source)
	return t, t.blame(err)
}

// blame says of an error whose template it is, and what to do.
func (t template) blame(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s, %w; --template chatml, none or a FILE takes another", t.whose, err)
}

// put puts a prompt into the template, behind the system message that the flags
// have.
func (t template) put(c *cli.Context, v *vocabulary, text string) (string, error) {
	system := c.String("system")
	if err := bench.CheckUTF8(system); err != nil {
		return "", fmt.Errorf("--system: %w", err)
	}
	switch {
	case t.Template == nil && c.IsSet("system") && t.why == "":
		return "", usagef("--system needs a chat template, and --template none takes the prompt as it is")
	case t.Template == nil && c.IsSet("system"):
		return "", usagef("--system needs a chat template, and %s; --template chatml or a FILE takes one", t.whose)
	case t.Template == nil:
		if t.why != "" {
			v.note(t.whose + ": the prompt is taken as it is; --template chatml or a FILE puts it into one, --template none says no more")
		}
		return text, nil
	}
	conversation := chat.Conversation{AddGenerationPrompt: true, BOS: v.adds.BOSText, EOS: v.adds.EOSText, Now: time.Now()}
	if c.IsSet("system") {
		conversation.Messages = append(conversation.Messages, chat.Message{Role: "system", Content: system})
	}
	conversation.Messages = append(conversation.Messages, chat.Message{Role: "user", Content: text})
	out, err := t.Render(conversation)
	if err != nil {
		return "", t.blame(err)
	}
	if out == "" {
		return "", t.blame(errors.New("which writes nothing"))
	}
	for what, said := range map[string]string{"--system": system, "the prompt": text} {
		if said = strings.TrimSpace(said); !strings.Contains(out, said) {
			v.note(fmt.Sprintf("%s does not write %s as it was given", t.whose, what))
		}
	}
	return out, t.blame(t.check(v, out, system+text))
}

// tokenMarks are how templates spell the tokens between which a text stands.
var tokenMarks = regexp.MustCompile(`<\|[^|<>\s]{1,64}\|>|<｜[^｜<>\s]{1,64}｜>|<(?:start|end)_of_[a-z]{1,16}>`)

// has reports whether one of ids is the token of the mark: where an SPM vocabulary puts
// a space before texts, another may stand before it.
func (v *vocabulary) has(ids []int32, mark string) bool {
	return slices.ContainsFunc(ids, func(id int32) bool {
		piece, err := v.tok.Piece(id)
		return err == nil && string(piece) == mark
	})
}

// check looks up the marks that the template has put into a text. Those that are no
// tokens are an error of a template that is built in; of others, some models were
// made with such, and it is a note.
func (t template) check(v *vocabulary, out, given string) error {
	var seen []string
	for _, mark := range tokenMarks.FindAllString(out, -1) {
		if slices.Contains(seen, mark) || strings.Contains(given, mark) {
			continue
		}
		if seen = append(seen, mark); len(seen) > 64 {
			break // a template has a dozen
		}
		ids, err := v.tok.Encode(mark)
		switch {
		case err != nil || v.has(ids, mark):
		case t.name == chat.ChatML:
			return fmt.Errorf("which writes %s, a token that the vocabulary does not have", mark)
		default:
			v.note(fmt.Sprintf("%s writes %s, which the vocabulary does not have as a token: it becomes %d", t.whose, mark, len(ids)))
		}
	}
	return nil
}
