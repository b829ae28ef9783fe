// Package chat puts a conversation into a chat template, the text that a model was
// trained to see: who says what, between the marks of its own.
package chat

import (
	"errors"
	"fmt"
	"time"

	"github.com/introgen/introgen/engine/chat/jinja"
	"github.com/introgen/introgen/results/sanitize"
)

// Message is what one of the speakers says; Role is system, user or assistant.
type Message struct{ Role, Content string }

// Conversation is what a template is given. It has neither tools nor documents,
// and its messages are texts: a template that wants more is refused.
type Conversation struct {
	Messages []Message
	// AddGenerationPrompt has the text end where the assistant is to speak.
	AddGenerationPrompt bool
	// BOS and EOS are the texts of the tokens that begin and end one, "" where the
	// vocabulary has none.
	BOS, EOS string
	Now      time.Time // for templates that say the date
}

// Template is a chat template that was read.
type Template struct {
	source string
	jinja  *jinja.Template
}

// Parse reads a template of the language jinja. Its error names the line.
func Parse(source string) (*Template, error) {
	t, err := jinja.Parse(source)
	if err != nil {
		return nil, told(err)
	}
	return &Template{source, t}, nil
}

// ChatML is the name of the template that is built in.
const ChatML = "chatml"

// chatML is the plainest form of ChatML, which adds nothing to what is said.
const chatML = `{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`

// Named returns a template that is built in.
func Named(name string) (_ *Template, known bool) {
	if name != ChatML {
		return nil, false
	}
	t, err := Parse(chatML)
	return t, err == nil
}

// Source is the text of the template.
func (t *Template) Source() string { return t.source }

// Bounds of what a rendering may cost, on top of what each byte of the conversation
// allows: a template walks over it several times. The templates of public models
// take some thousand steps.
const (
	steps, stepsPerByte = 2 << 20, 16
	bytes, bytesPerByte = 16 << 20, 128
)

// Render puts a conversation into the template. Its error is one line that says in
// which line of the template, or what the template said itself.
func (t *Template) Render(c Conversation) (string, error) {
	text, err := t.jinja.Render(c.input(nil))
	if err == nil {
		return text, nil
	}
	if fault := (*jinja.Error)(nil); errors.As(err, &fault) && !fault.Raised {
		// Python's None cannot be walked over, an empty list can.
		if _, other := t.jinja.Render(c.input(jinja.List())); other == nil {
			return "", fmt.Errorf("line %d wants tools, and there are none", fault.Line)
		}
	}
	return "", told(err)
}

func (c Conversation) input(tools any) jinja.Input {
	messages, size := make([]any, len(c.Messages)), 0
	for i, m := range c.Messages {
		messages[i] = jinja.NewDict("role", m.Role, "content", m.Content)
		size += len(m.Role) + len(m.Content)
	}
	variables := []any{"messages", jinja.List(messages...), "tools", tools, "documents", nil, "add_generation_prompt", c.AddGenerationPrompt}
	required := map[string]string{}
	for _, name := range []string{"bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token", "mask_token"} {
		text := map[string]string{"bos_token": c.BOS, "eos_token": c.EOS}[name]
		if text != "" {
			variables = append(variables, name, text)
			continue
		}
		required[name] = name + " is wanted, and the vocabulary says of no token that it is the one"
	}
	return jinja.Input{
		Variables: jinja.NewDict(variables...), Required: required, Now: c.Now,
		Limits: jinja.Limits{Steps: steps + stepsPerByte*size, Bytes: bytes + bytesPerByte*size},
	}
}

// longest is how much of a template's own words an error shows.
const longest = 300

// told is an error in one line.
func told(err error) error {
	var fault *jinja.Error
	if !errors.As(err, &fault) {
		return err
	}
	what := sanitize.Line(fault.What)
	if len(what) > longest {
		what = sanitize.Line(what[:longest]) + "…"
	}
	if fault.Raised {
		return fmt.Errorf("line %d refuses the conversation: %s", fault.Line, what)
	}
	return fmt.Errorf("line %d: %s", fault.Line, what)
}
