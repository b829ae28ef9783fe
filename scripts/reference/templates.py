#!/usr/bin/env python3
"""Write what engine/chat is tested against: what jinja2 makes of templates.

    python3 -m venv VENV && VENV/bin/pip install jinja2==3.1.6 markupsafe==3.0.3
    VENV/bin/python scripts/reference/templates.py engine/chat/testdata

It reads DIR/templates/*.jinja (their source is in DIR/templates/README.md) and
DIR/snippets.txt, and writes

  figures.json   for each template and each conversation below: the text, or the
                 error. "raised" is what the template itself said with
                 raise_exception; "failed" the class of any other error.
  snippets.json  the same for each small template of snippets.txt.

jinja2 is configured as in transformers 4.57.6, utils/chat_template_utils.py,
_compile_jinja_template; only the clock of strftime_now stands still. The
variables are those of apply_chat_template: messages, tools and documents (none),
add_generation_prompt, and the tokens of the vocabulary.
"""
import json
import sys
from datetime import datetime
from pathlib import Path

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.sandbox

assert jinja2.__version__ == "3.1.6", jinja2.__version__

NOW = datetime(2026, 3, 7, 9, 5, 2)
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


def system(text):
    return {"role": "system", "content": text}


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


ODD = "  \"Tom's\" <b>café</b> & naïve\t\\n {{ not }} {% code %} {# here #}\n\nΑθήνα, Москва, 東京 🌍🏽\u00a0\u200d\u2028!  \n"

# name, messages, add_generation_prompt
CONVERSATIONS = [
    ("question", [user("What is Rust?")], True),
    ("system", [system("You answer in one word."), user("What is Rust?")], True),
    ("turns", [system("Be brief."), user("Hi"), assistant("Hello! How can I help?"), user("Name a colour.\nThen another."),
               assistant("Blue, red."), user("Thanks")], True),
    ("empty system", [system(""), user("What is Rust?"), assistant(""), user("And Go?")], True),
    ("odd characters", [system(ODD), user(ODD + "a"), assistant(ODD), user("b" + ODD)], True),
    ("answered", [user("Hi"), assistant("<think>\nHm.\n</think>\n\n Hello! ")], False),
    ("answered, system", [system(" A\nB "), user("1+1?"), assistant("2"), user("2+2?"), assistant("4\n")], False),
    ("two questions", [user("Hi"), user("Anyone?")], True),
    ("answer first", [assistant("Hello!"), user("Hi")], True),
    ("late system", [user("Hi"), assistant("Hello!"), system("Now be rude."), user("Go on.")], True),
    ("unknown role", [{"role": "narrator", "content": "It rains."}, user("Hi")], True),
]


class Generation(jinja2.ext.Extension):
    """The tag of transformers' AssistantTracker, which tracks nothing here."""
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_support"), [], [], body).set_lineno(line)

    @jinja2.pass_eval_context
    def _support(self, context, caller):
        return caller()


class Raised(jinja2.exceptions.TemplateError):
    pass


def environment():
    def raise_exception(message):
        raise Raised(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda format: NOW.strftime(format)
    return env


def render(env, source, messages, generate):
    try:
        return {"text": env.from_string(source).render(
            messages=messages, tools=None, documents=None, add_generation_prompt=generate, **TOKENS)}
    except Raised as e:
        return {"raised": str(e)}
    except Exception as e:  # whatever a template does wrong
        return {"failed": type(e).__name__}


def write(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def main():
    folder, env = Path(sys.argv[1]), environment()
    sources = {p.stem: p.read_bytes().decode() for p in sorted((folder / "templates").glob("*.jinja"))}
    write(folder / "figures.json", {
        "now": NOW.isoformat() + "Z", "tokens": TOKENS,
        "conversations": [{"name": n, "messages": m, "generate": g} for n, m, g in CONVERSATIONS],
        "templates": {name: [render(env, s, m, g) for _, m, g in CONVERSATIONS] for name, s in sources.items()}})
    snippets = (folder / "snippets.txt").read_text(encoding="utf-8").split("\n----\n")
    messages = CONVERSATIONS[2][1]
    write(folder / "snippets.json", [{"source": s} | render(env, s, messages, True) for s in snippets])


main()
