"""Chat templates give what transformers gives, and one that fails in any way fails with TP1005 and one line."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment

from support.checkpoints import TEMPLATE
from tileproof.diagnostics.codes import Code
from tileproof.llm.errors import ModelError
from tileproof.llm.tokenizer import worker_process
from tileproof.llm.tokenizer.templates import ChatTemplate, default_template
from tileproof.llm.tokenizer.worker_process import TEMPLATES

CHAT = [{"role": "system", "content": "Be <brief>."}, {"role": "user", "content": "Hé & 日本"}]
LOOPS = """\
{%- set seen = namespace(users=0) %}
{% for message in messages %}
    {%- if message.role == 'system' %}{% continue %}{% endif %}
    {%- set seen.users = seen.users + 1 %}
{{ loop.index }} of {{ loop.length }}{{ ',' if not loop.last }} {{ message.content | trim }}
    {%- if loop.index == 7 %}{% break %}{% endif %}
{% endfor %}
{{- messages[::-1] | map(attribute='role') | join('+') }} {{ seen.users }} {{ messages | tojson }}
{%- if not messages[0].tool_calls and tools is none %}{{ bos_token }}!{{ eos_token }}{% endif %}
"""
SPEAKING = "{% for m in messages %}{% generation %}{{ m['content'] }}{% endgeneration %}\n    {# note #}{% endfor %}"


def failure(template: str) -> str:
    """The one line with which a template fails, now or when it is compiled."""
    with pytest.raises(ModelError) as failed:
        ChatTemplate(template).render(CHAT)
    assert failed.value.diagnostics[0].code is Code.CHAT_TEMPLATE
    assert "\n" not in failed.value.line
    return failed.value.line


@pytest.mark.slow
@pytest.mark.parametrize("source", [TEMPLATE, LOOPS, SPEAKING], ids=["chat", "loops", "speaking"])
def test_a_template_gives_what_transformers_gives(source: str) -> None:
    wanted = {
        TEMPLATE: "<|im_start|>system\nBe <brief>.<|im_end|>\n<|im_start|>user\nHé & 日本<|im_end|>\n"
        "<|im_start|>assistant\n",
        LOOPS: "2 of 2 Hé & 日本user+system 1 "
        '[{"role": "system", "content": "Be <brief>."}, {"role": "user", "content": "Hé & 日本"}]<s>!</s>',
        SPEAKING: "Be <brief>.Hé & 日本",
    }[source]
    assert ChatTemplate(source, bos="<s>", eos="</s>").render(CHAT) == wanted
    utils = pytest.importorskip("transformers.utils.chat_template_utils")
    theirs, _ = utils.render_jinja_template(
        [CHAT], chat_template=source, add_generation_prompt=True, bos_token="<s>", eos_token="</s>"
    )
    assert theirs == [wanted]


def test_thinking_is_switched_where_a_template_knows_of_it() -> None:
    template = ChatTemplate(TEMPLATE)
    assert template.can_think
    usual = template.render(CHAT)
    assert template.render(CHAT, thinking=True) == usual
    assert template.render(CHAT, thinking=False) == usual + "<think>\n\n</think>\n\n"
    assert template.render(CHAT, answers=False) == usual.removesuffix("<|im_start|>assistant\n")


def test_a_model_that_cannot_think_can_be_told_not_to() -> None:
    template = ChatTemplate("{{ messages[0].content }}")
    assert not template.can_think
    assert template.render(CHAT, thinking=False) == "Be <brief>."
    with pytest.raises(ModelError, match="cannot be told to think") as failed:
        template.render(CHAT, thinking=True)
    assert failed.value.diagnostics[0].code is Code.CHAT_TEMPLATE


def test_a_malformed_template_names_the_line() -> None:
    assert failure("a\n{% for %}").startswith("line 2 of the chat template is malformed: ")
    assert failure("{{ messages | no_such_filter }}").startswith("line 1 of the chat template is malformed: ")


def test_what_a_template_refuses_is_told() -> None:
    line = failure("{{ raise_exception('Roles must\n alternate') }}")
    assert line == "the chat template refuses: Roles must alternate; change the messages as it asks"


@pytest.mark.parametrize(
    "source",
    [
        "{{ messages[9].content.upper() }}",
        "{{ 1 // 0 }}",
        "{{ none + 'a' }}",
        "{{ no_such_function() }}",
        "{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}",
        "{{ ''.__class__.__mro__ }}{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.append(1) }}",
        "{% include 'other' %}",
        "{{ 'a'.x.y }}",
        "{% filter list %}abc{% endfilter %}",
        "{% for a in [1] %}" * 30 + "{% endfor %}" * 30,
    ],
)
def test_whatever_goes_wrong_in_a_template_is_its_failure(source: str) -> None:
    assert failure(source).startswith("the chat template fails with ")


def growing(first: str, more: str) -> str:
    """A template that makes something of what it made before, again and again."""
    return f"{{% set it = namespace(a={first}) %}}{{% for n in range(60) %}}{{% set it.a = {more} %}}{{% endfor %}}"


LARGE = "{% set a = (messages | length + 7) ** 999999 %}{% for n in range(99999) %}"
DOUBLING = "{% macro twice(n) %}{% if n %}{{ twice(n - 1) }}{{ twice(n - 1) }}{% endif %}{% endmacro %}{{ twice(60) }}"


@pytest.mark.sweep(6)
@pytest.mark.parametrize(
    "source",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        DOUBLING,
        growing("'ab'", "it.a ~ it.a"),
        growing("['ab']", "[it.a, it.a]") + "{{ it.a | tojson }}",
        growing("10", "it.a * it.a"),
        "{{ 9 ** 999999999 }}",
        "{% for a in range(20000) %}{{ messages[0].content * 100 }}{% endfor %}",
        "{{ messages[0].content.ljust(9999999999) }}",
        "{{ ('ab' * 5000000).replace('a', 'ab' * 5000000) }}",
        LARGE + "{% set b = a // 7 %}{% endfor %}",
        LARGE + "{% if a % 7 == 9 or a is divisibleby 11 %}{% endif %}{% endfor %}",
        LARGE + "{% if a in [a - 1, a + 1] %}{% endif %}{% endfor %}",
        LARGE + "{% set d = {a: 1} %}{% endfor %}",
        "{% for a in 'x' * 9999 %}{% for b in 'x' * 9999 %}{% set c = a %}{% endfor %}{% endfor %}",
        growing("'ab'", "[it.a, it.a] | join"),
        growing("'ab'", "it.a | replace('a', 'aa')"),
        growing("['ab']", "[it.a, it.a]") + "{{ it.a }}",
        growing("messages", "(it.a | select | list) + (it.a | reject('none') | list)"),
        "{% set a %}{% for n in range(49999) %}" + "ab" * 9999 + "{% endfor %}{% endset %}",
        "{{ messages[0].content.join('ab' * 5000000).join('ab' * 5000000) }}",
        "{{ ('a\n' * 1000000) | indent(99999) }}",
        "{{ '%9999999999d' % 1 }}",
        "{{ '{:9999999999}'.format(1) }}",
        "{{ '{:{}}'.format(1, 999999999) }}",
        "{{ ('{a}' * 5000000).format(a='ab' * 99) }}",
        "{{ {'a': [1, 2]} | tojson(indent=9999999999) }}",
        "{{ ('ab' * 5000000).encode('utf-16') * 99 }}",
        "{{ ([1] * 9999999) | replace('1', 'ab' * 99) }}",
    ],
)
def test_a_template_without_end_is_stopped(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_process, "SECONDS", 0.3)
    line = failure(source)
    assert re.search("takes more than|writes more than", line), line
    assert ChatTemplate("{{ messages[0].content }}").render(CHAT) == "Be <brief>."


@pytest.mark.parametrize(
    ("source", "limit"),
    [
        (DOUBLING, "0.3 seconds of processor time"),
        ("{{ messages[0].role * 100000000 }}", "512 MiB of memory"),
        ("{{ messages[0].role * 3000000 }}", "16777216 characters"),
    ],
    ids=["time", "memory", "characters"],
)
def test_the_limit_that_a_template_reaches_is_named(source: str, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_process, "SECONDS", 0.3)
    assert f"more than {limit}; use --raw-prompt" in failure(source)


def test_a_process_that_does_not_reply_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    template = ChatTemplate("{{ messages[0].content }}")
    pid = TEMPLATES.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    with monkeypatch.context() as patch:
        patch.setattr(worker_process, "DEADLINE", 0.1)
        with pytest.raises(ModelError, match=r"takes more than 0\.1 seconds"):
            template.render(CHAT)
    assert template.render(CHAT) == "Be <brief>."
    assert TEMPLATES.pid != pid


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_was_killed_is_replaced(number: signal.Signals) -> None:
    template = ChatTemplate("{{ messages[0].content }}")
    pid = TEMPLATES.pid
    assert pid is not None
    os.kill(pid, number)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert template.render(CHAT) == "Be <brief>."
    assert TEMPLATES.pid != pid


def test_an_interrupted_rendering_leaves_no_reply_to_the_next() -> None:
    endless, template = ChatTemplate(DOUBLING), ChatTemplate("{{ messages[0].content }}")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def interrupted() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        endless.render(CHAT)

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert template.render(CHAT) == "Be <brief>."


def test_threads_share_the_process() -> None:
    def rendered(number: int) -> list[str]:
        template = ChatTemplate(f"{number}: {{{{ messages[0].content }}}}")
        return [template.render([{"role": "user", "content": f"{number}.{turn}"}]) for turn in range(20)]

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(rendered, range(8)))
    assert results == [[f"{number}: {number}.{turn}" for turn in range(20)] for number in range(8)]


FORKED = """
import os, signal, sys, threading, time
from tileproof.llm.tokenizer import worker_process
from tileproof.llm.tokenizer.worker_process import TEMPLATES
from tileproof.llm.tokenizer.templates import ChatTemplate

template, first = ChatTemplate("{{ messages[0] }}"), TEMPLATES.pid
endless = ChatTemplate("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}")
worker_process.SECONDS = 0.3
threading.Thread(target=endless.render, args=([],), daemon=True).start()  # holds the lock while this forks
time.sleep(0.1)
child = os.fork()
if not child:
    signal.alarm(30)
for turn in range(100):
    assert template.render([f"{child > 0} {turn}"]) == f"{child > 0} {turn}"
if not child:
    sys.exit(TEMPLATES.pid == first)
assert os.waitpid(child, 0)[1] == 0
print(TEMPLATES.pid, "jinja2" in sys.modules, flush=True)
sys.stdin.read()
os._exit(0)
"""


def test_a_fork_has_a_process_of_its_own_and_the_process_ends_with_its_parent() -> None:
    command = [sys.executable, "-c", FORKED]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        pid, has_jinja = parent.stdout.readline().split()
        assert has_jinja == "False", "a parent that only starts templates needs no jinja2"
        watched = os.pidfd_open(int(pid))
        parent.stdin.close()
        poll = select.poll()
        poll.register(watched, select.POLLIN)
        assert poll.poll(60_000), "it outlives its parent"
        os.close(watched)


def test_a_template_that_is_too_long_is_not_compiled() -> None:
    assert "is itself 1200000 characters long" in failure("ab" * 600_000)


def test_operations_of_templates_give_what_jinja_gives() -> None:
    plain = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    source = (
        "{% set a = messages[0].content %}{{ a ~ 1 ~ none ~ [a] }}|{{ a[1:] }}{{ a[::-1] }}|{{ [a, 2] | join('-') }}|"
        "{{ a | replace('l', 'L') | indent(4, true) }}|{{ '%05.1f|%s' % (2.5, a) }}|{{ '{:>8}'.format(a) }}|"
        "{{ a.split('l') }}{{ a.center(9) }}|{{ [[a], [2]] | sum(start=[]) }}"
        "{{ messages | map(attribute='role') | list }}"
        "{% set b %}x{{ a }}y{% endset %}{{ b | upper }}"
        "{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(a) * 2 }}{{ {'a': 1} }}"
        "{% for c in a %}{{ c }}{% if not loop.last %}, {% endif %}{% endfor %}{{ 'abc' | first }}{{ 3 | string ~ 4 }}"
    )
    messages = [{"role": "user", "content": "hello"}]
    assert ChatTemplate(source).render(messages) == plain.from_string(source).render(messages=messages)


def test_of_several_templates_the_default_is_for_chats() -> None:
    tools, chat = {"name": "tool_use", "template": "t"}, {"name": "default", "template": "c"}
    assert default_template([tools, chat]) == "c"
    assert default_template([tools]) == "t"
    assert default_template("c") == "c"
    assert default_template(None) is default_template([]) is None
    with pytest.raises(ModelError, match="none of the chat templates tool_use, rag is the default"):
        default_template([tools, {"name": "rag", "template": "r"}])


def test_the_date_is_to_be_had() -> None:
    assert ChatTemplate("{{ strftime_now('%Y') }}").render(CHAT) == time.strftime("%Y")
