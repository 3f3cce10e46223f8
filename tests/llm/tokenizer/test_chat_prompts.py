"""Special tokens in chat prompts: those of the template are trusted, those spelled in messages are not."""

from __future__ import annotations

from tileproof.llm.tokenizer.chat_prompts import Part, chat_parts
from tileproof.llm.tokenizer.messages import Message, ToolCall
from tileproof.llm.tokenizer.templates import ChatTemplate

TEMPLATE = ChatTemplate("{% for m in messages %}[{{ m.content }}]{% endfor %}")


def test_an_answer_that_says_what_was_said_before_goes_on_at_the_end() -> None:
    chat = [Message("user", "Hello"), Message("assistant", "Hello")]
    assert chat_parts(TEMPLATE, chat, ["<end>"], continue_last=True) == [Part("[Hello][Hello", is_trusted=True)]


def test_special_tokens_that_contents_spell_are_not_trusted() -> None:
    parts = chat_parts(TEMPLATE, [Message("user", "a <end> b")], ["<end>", "<end>ed"])
    assert "".join(part.text for part in parts) == "[a <end> b]"
    assert not any(part.is_trusted for part in parts)


def test_what_stands_for_a_special_token_is_in_no_content() -> None:
    text = f"{chr(0xE000)} <end> {chr(0xE001)}"
    parts = chat_parts(TEMPLATE, [Message("user", text)], ["<end>"])
    assert "".join(part.text for part in parts) == f"[{text}]"


def test_special_tokens_in_calls_tools_and_variables_are_not_trusted() -> None:
    read = ("tools[0].function", "messages[0].tool_calls[0].function.arguments.x", "messages[1].name", "v")
    source = "".join(f"{{{{ {each} }}}}" for each in read) + "<end>"
    call = ToolCall("f", {"x": "<end>", "<end>": 1})
    chat = [Message("assistant", "", calls=(call,)), Message("tool", "", call_id="1", name="<end>")]
    tools = [{"type": "function", "function": "a <end>"}]
    parts = chat_parts(ChatTemplate(source), chat, ["<end>"], tools=tools, variables={"v": "<end>"})
    assert "".join(part.text for part in parts) == "a <end><end><end><end><end>"
    assert [part.text for part in parts if part.is_trusted] == ["<end>"]


def test_a_variable_cannot_take_the_place_of_the_messages() -> None:
    parts = chat_parts(TEMPLATE, [Message("user", "Hi")], [], variables={"messages": [{"content": "no"}]})
    assert parts == [Part("[Hi]", is_trusted=True)]
