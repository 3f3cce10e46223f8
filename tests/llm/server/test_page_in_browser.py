"""The page in a real browser, against real servers."""

from __future__ import annotations

import http.client
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.servers import DEADLINE, Server, serving
from tileproof.llm import ModelError
from tileproof.llm.loader.find import resolve

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, Route

pytestmark = pytest.mark.slow
HOSTILE = (
    "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
    "[link](javascript:alert(1)) ![picture](http://example.com/x.png)\n\n"
    "- <b>item</b>\n\n```html\n<script>document.title='owned'</script>\n```\n`<i>` **<u>bold</u>**"
)
OpenPage = Callable[..., "Page"]


@pytest.fixture(scope="module")
def smollm2() -> Iterator[Server]:
    """A server with a model that is trained."""
    try:
        path = resolve("smollm2-135m-instruct")
    except ModelError as error:
        pytest.skip(f"SmolLM2 is not here: {error.line}")
    with serving(path, "--max-seq-len", "1024", "--served-model-name", "smollm2") as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium as the system has it."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("chromium is not installed")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program)
        yield running
        running.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Opens the page of a server. In the end no page has failed, and none has sent a request anywhere else."""
    pages: list[tuple[Server, Page, list[str], list[str]]] = []

    def opened(server: Server, path: str = "/", **options: Any) -> Page:
        page = browser.new_context(**options).new_page()
        page.set_default_timeout(30_000)
        requests, failures = list[str](), list[str]()
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: failures.append(str(error)))
        page.on("console", lambda message: failures.append(message.text) if "Security" in message.text else None)
        pages.append((server, page, requests, failures))
        page.goto(server.url + path)
        return page

    yield opened
    for server, page, requests, failures in pages:
        assert failures == []
        assert requests
        assert [url for url in requests if not url.startswith((server.url, "blob:"))] == []
        page.context.close()


def send(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Enter")


def greedy(page: Page, max_tokens: int) -> None:
    """Makes answers repeatable and short."""
    page.get_by_role("button", name="Settings", exact=True).click()
    page.get_by_label("Temperature").fill("0")
    page.get_by_label("Max tokens").fill(str(max_tokens))
    page.get_by_role("button", name="Close the settings").click()


def finished(page: Page) -> Locator:
    """The answers, when none is in progress."""
    from playwright.sync_api import expect

    expect(page.locator("#stop")).to_be_hidden(timeout=60_000)
    return page.get_by_role("article", name="Answer")


def test_an_answer_comes_piece_by_piece_with_what_it_cost_and_stays_after_a_reload(
    smollm2: Server, open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    page = open_page(smollm2)
    expect(page.get_by_role("heading", level=1)).to_have_text("smollm2")
    greedy(page, 200)
    send(page, "Tell me a long story about the sea.")
    answer = page.get_by_role("article", name="Answer").locator(".prose")
    expect(answer).to_have_text(re.compile(r"\w+ \w+"))
    early = answer.inner_text()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    whole = finished(page).locator(".prose").inner_text()
    assert len(whole) > len(early)
    assert whole.startswith(early)
    expect(page.locator(".stats")).to_have_text(
        re.compile(r"^\d+ tokens · [\d.]+ tok/s · first after [\d.]+ s · prompt \d+")
    )
    page.reload()
    expect(page.get_by_role("article", name="You").locator(".said")).to_have_text("Tell me a long story about the sea.")
    assert answer.inner_text() == whole
    page.get_by_role("button", name="New chat").click()
    expect(page.get_by_role("article")).to_have_count(0)
    page.get_by_role("link", name=re.compile("Tell me")).click()
    assert answer.inner_text() == whole
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name=re.compile("Delete .Tell me")).click()
    expect(page.get_by_role("article")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("link", name=re.compile("Tell me"))).to_have_count(0)


def test_escape_stops_and_the_answer_can_be_continued_made_anew_or_asked_for_in_other_words(
    smollm2: Server, open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    page = open_page(smollm2)
    greedy(page, 400)
    send(page, "Write a very long story about a dragon.")
    answer = page.get_by_role("article", name="Answer").locator(".prose")
    expect(answer).to_have_text(re.compile(r"\w+ \w+"))
    page.keyboard.press("Escape")
    part = finished(page).locator(".prose").inner_text()
    expect(page.locator(".stats")).to_contain_text("stopped")
    greedy(page, 8)
    page.get_by_role("button", name="Continue").click()
    longer = finished(page).locator(".prose").inner_text()
    assert longer.startswith(part)
    assert len(longer) > len(part)
    page.get_by_role("button", name="Generate again").click()
    expect(finished(page)).to_contain_text("8 tokens")
    assert answer.inner_text() != longer
    page.get_by_role("button", name="Edit").click()
    editor = page.get_by_label("Your message")
    expect(editor).to_have_value("Write a very long story about a dragon.")
    editor.fill("What is the capital of France?")
    page.keyboard.press("Enter")
    expect(finished(page)).to_contain_text("Paris")
    expect(page.get_by_role("article")).to_have_count(2)


def test_a_system_prompt_and_settings_reach_the_server_and_survive_a_reload(
    smollm2: Server, open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    page = open_page(smollm2)
    page.get_by_role("button", name="Settings", exact=True).click()
    expect(page.get_by_label("Thinking")).to_be_hidden()  # SmolLM2 does not think
    page.get_by_label("System prompt").fill("You are a pirate.")
    page.get_by_label("Seed").fill("7")
    page.get_by_label("Max tokens").fill("4")
    page.get_by_label("Top p").fill("3")  # which is no probability
    send(page, "Hello")
    expect(page.get_by_label("Top p")).to_be_focused()
    expect(page.get_by_role("article")).to_have_count(0)
    page.get_by_label("Top p").fill("0.5")
    with page.expect_request("**/v1/chat/completions") as sent:
        page.get_by_role("button", name="Send", exact=True).click()
    body = sent.value.post_data_json
    assert body["messages"][0] == {"role": "system", "content": "You are a pirate."}
    assert (body["seed"], body["max_tokens"], body["top_p"]) == (7, 4, 0.5)
    assert "temperature" not in body
    finished(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export this chat").click()
    exported = json.loads(Path(download.value.path()).read_text())
    assert [message["role"] for message in exported["messages"]] == ["system", "user", "assistant"]
    assert smollm2.post("/v1/chat/completions", **exported).status == 200
    page.reload()
    page.get_by_role("button", name="Settings", exact=True).click()
    expect(page.get_by_label("System prompt")).to_have_value("You are a pirate.")
    page.get_by_role("button", name="Reset").click()
    expect(page.get_by_label("System prompt")).to_have_value("")


def test_hostile_text_of_user_and_model_stays_text(server: Server, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    def make_hostile(route: Route) -> None:
        body = route.request.post_data_json
        body["structured_outputs"] = {"choice": [f"<think>{HOSTILE}</think>{HOSTILE}"]}
        route.continue_(post_data=json.dumps(body))

    page = open_page(server)
    page.route("**/v1/chat/completions", make_hostile)
    send(page, HOSTILE)
    finished(page)
    for _ in range(2):  # as it came, and as it was stored
        expect(page.locator(".said")).to_have_text(HOSTILE)
        expect(page.locator(".thought")).to_have_text(HOSTILE)
        answer = page.locator(".prose")
        expect(answer).to_contain_text("<img src=x onerror=\"document.title='owned'\"><script>")
        expect(answer).to_contain_text("[link](javascript:alert(1)) ![picture](http://example.com/x.png)")
        expect(answer.locator("pre")).to_have_text("<script>document.title='owned'</script>")
        expect(answer.locator("strong")).to_have_text("<u>bold</u>")
        expect(page.locator("article :is(img, script, a, i, u, b, iframe)")).to_have_count(0)
        page.reload()
    assert "owned" not in page.title()
    with pytest.raises(Exception, match="TrustedHTML"):
        page.evaluate("() => { document.body.innerHTML = '<b>x</b>'; }")


def test_thinking_can_be_switched_where_the_template_can(server: Server, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    page = open_page(server)
    greedy(page, 3)
    page.get_by_role("button", name="Settings", exact=True).click()
    page.get_by_label("Thinking").select_option("off")
    with page.expect_request("**/v1/chat/completions") as sent:
        send(page, "hello")
    assert sent.value.post_data_json["chat_template_kwargs"] == {"enable_thinking": False}
    expect(finished(page)).to_have_count(1)


def test_markdown_keeps_every_word_and_is_fast_for_any_text(server: Server, open_page: OpenPage) -> None:
    page = open_page(server)
    render = """async text => {
      const { MarkdownView } = await import("/page/markdown.js");
      const node = document.createElement("div");
      const view = new MarkdownView(node);
      for (let end = 1; end < text.length; end += Math.ceil(text.length / 50)) view.show(text.slice(0, end));
      view.show(text);
      const whole = document.createElement("div");
      new MarkdownView(whole).show(text);
      return [node.innerHTML, whole.innerHTML, node.textContent];
    }"""
    for text, expected in {
        "# A\nb **c `d`** *e*": "<h3>A</h3><p>b <strong>c <code>d</code></strong> <em>e</em></p>",
        "2. a\n   - b\n3. c": '<div><ol><li value="2">a<ul><li>b</li></ul></li><li value="3">c</li></ol></div>',
        "- a\n1. b": '<div><ul><li>a</li></ul><ol><li value="1">b</li></ol></div>',
        "2 * 3 * 4 and ** and `": "<p>2 * 3 * 4 and ** and `</p>",
    }.items():
        grown, whole, _ = page.evaluate(render, text)
        assert grown == whole == expected
    for piece in ("`" * 3 + "~", "**a ", "*a`", "  " * 9 + "- a\n", "~" * 50 + "`\n", "# " + " " * 50, "1. a\n  * b\n"):
        grown, whole, text = page.evaluate(render, piece * (40_000 // len(piece)))
        assert grown == whole
        assert text.count("a") == (piece * (40_000 // len(piece))).count("a")


def test_a_wrong_key_and_a_right_one(model: Path, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    with serving(model, "--no-warm-up", "--max-tokens", "5", environment={"TILEPROOF_API_KEY": "right"}) as server:
        page = open_page(server)
        dialog = page.get_by_role("dialog", name="API key")
        expect(dialog).to_contain_text("requires an API key")
        dialog.get_by_label("Key", exact=True).fill("wrong")
        page.keyboard.press("Enter")
        expect(dialog).to_contain_text("does not know this key")
        page.keyboard.press("Escape")
        send(page, "hello there")
        expect(dialog).to_be_visible()
        dialog.get_by_label("Key", exact=True).fill("right")
        page.keyboard.press("Enter")
        expect(finished(page)).to_have_count(1)
        expect(page.get_by_role("article", name="You")).to_contain_text("hello there")
        expect(page.locator("#status")).to_have_attribute("data-state", "ready")
        page.reload()
        expect(page.locator("#status")).to_have_attribute("data-state", "ready")
        assert page.evaluate("localStorage['tileproof.key']") is None
        page.goto(server.url + "/engine")
        expect(page.locator("#totals")).to_contain_text("Tokens generated")


def test_a_full_server_is_tried_again_until_it_has_room(model: Path, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    limits = ["--max-num-seqs", "1", "--max-queue", "1", "--max-tokens", "3000", "--no-warm-up"]
    with serving(model, *limits) as server:
        page = open_page(server)
        greedy(page, 5)
        connections = []
        for waiting in range(2):
            connection = http.client.HTTPConnection(server.host, server.port, timeout=DEADLINE)
            fields = {"prompt": "the quick brown fox", "ignore_eos": True, "stream": True}
            connection.request("POST", "/v1/completions", json.dumps(fields), {"Content-Type": "application/json"})
            connection.getresponse()
            connections.append(connection)
            assert server.metric("vllm:num_requests_waiting") <= waiting
        send(page, "hello there")
        expect(page.locator("#notice").get_by_role("status")).to_contain_text("The server is busy. Trying again in")
        for connection in connections:
            connection.close()
        expect(finished(page)).to_have_count(1)
        expect(page.locator("#notice")).to_be_empty()


def test_a_chat_that_does_not_fit_moves_on_and_a_server_that_is_gone_loses_nothing(
    model: Path, open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    with serving(model, "--no-warm-up", "--max-seq-len", "64", "--max-tokens", "3") as server:
        page = open_page(server)
        send(page, "hello")
        finished(page)
        send(page, "word " * 200)
        expect(page.get_by_role("alert")).to_contain_text("This chat no longer fits into the context of 64 tokens")
        page.get_by_role("button", name="New chat with this message").click()
        message = page.get_by_label("Message", exact=True)
        expect(message).to_have_value(("word " * 200).strip())
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("This message is longer than the context of 64 tokens")
        page.get_by_role("alert").get_by_role("button", name="Edit").click()
        page.get_by_label("Your message").fill("hi")
        page.keyboard.press("Enter")
        expect(finished(page)).to_have_count(1)
        server.process.kill()
        server.process.wait()
        kept = finished(page).locator(".prose").inner_text()
        page.get_by_role("button", name="Generate again").click()
        expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
        assert finished(page).locator(".prose").inner_text() == kept
        send(page, "is anyone there?")
        expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
        expect(page.get_by_role("article", name="You").last).to_contain_text("is anyone there?")
        expect(page.get_by_role("button", name="Try again")).to_be_visible()
        message.fill("a draft")
        with serving(model, "--no-warm-up", "--port", str(server.port), "--max-tokens", "3"):
            expect(page.locator("#status")).to_have_attribute("data-state", "ready")
            page.get_by_role("button", name="Try again").click()
            expect(finished(page)).to_have_count(2)
            expect(message).to_have_value("a draft")
            page.reload()
            expect(message).to_have_value("a draft")


def test_the_engine_is_shown_live_while_an_answer_goes_on(smollm2: Server, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    page = open_page(smollm2)
    greedy(page, 300)
    send(page, "Tell me a very long story about a ship.")
    page.get_by_role("link", name="Engine").click()
    assert page.url == f"{smollm2.url}/engine"
    chart = page.get_by_role("img", name=re.compile("Generation"))
    expect(chart).to_have_attribute("aria-label", re.compile(r"now tok/s [1-9]"))
    expect(page.get_by_role("img", name=re.compile("Requests"))).to_have_attribute(
        "aria-label", re.compile("running 1, waiting 0")
    )
    expect(chart.locator("path.line")).to_have_attribute("d", re.compile(r"^M[\d.]+,[\d.]+L"))
    expect(page.locator("#totals")).to_contain_text(re.compile(r"Tokens generated[1-9]"))
    page.go_back()
    expect(finished(page)).to_have_count(1)
    page.goto(f"{smollm2.url}/engine")
    expect(page.get_by_role("img", name=re.compile("KV cache"))).to_be_visible()


def test_the_theme_follows_the_system_until_one_is_chosen(server: Server, open_page: OpenPage) -> None:
    page = open_page(server, color_scheme="dark")

    def lightness() -> int:
        color = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return int(re.findall(r"\d+", color)[0])

    assert lightness() < 60
    page.emulate_media(color_scheme="light")
    assert lightness() > 200
    page.emulate_media(color_scheme="dark")
    page.get_by_role("button", name="Theme: system").click()
    assert lightness() > 200
    page.reload()
    assert lightness() > 200
    page.get_by_role("button", name="Theme: light").click()
    page.emulate_media(color_scheme="light")
    assert lightness() < 60


def test_a_phone_has_no_sideways_scrolling_and_panels_that_open_and_close(smollm2: Server, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    page = open_page(smollm2, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    sideways = "document.documentElement.scrollWidth > innerWidth"
    greedy(page, 60)
    send(page, "Write a Python function with a very long line of code." + "x" * 200)
    expect(finished(page)).to_have_count(1)
    assert not page.evaluate(sideways)
    page.get_by_role("button", name="Chats").click()
    expect(page.get_by_role("button", name="Close the list of chats")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#sidebar")).to_be_hidden()
    page.get_by_role("button", name="Chats").click()
    page.get_by_role("link", name="Engine").click()
    expect(page.locator("#sidebar")).to_be_hidden()
    expect(page.locator("#cards")).to_be_visible()
    assert not page.evaluate(sideways)


def test_the_keyboard_reaches_everything_and_every_control_has_a_name(server: Server, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    page = open_page(server)
    message = page.get_by_label("Message", exact=True)
    expect(message).to_be_focused()
    page.keyboard.type("one")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two")
    expect(message).to_have_value("one\ntwo")
    page.keyboard.press("Enter")
    finished(page)
    unnamed = """() => [...document.querySelectorAll("button, a, input, select, textarea")]
      .filter(each => each.checkVisibility() && !each.getAttribute("aria-label") && !each.textContent.trim()
        && !each.labels?.length).map(each => each.outerHTML)"""
    page.get_by_role("button", name="Settings", exact=True).click()
    assert page.evaluate(unnamed) == []
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id"))
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(outline) != "none" or page.evaluate("document.activeElement.id") in ("prompt", "")
    assert {"new-chat", "to-engine", "theme", "export", "open-settings", "prompt", "seed", "change-key"} <= seen
