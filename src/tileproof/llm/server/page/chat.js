// The chat: what is shown of it, and the answers that are being generated.

import { ApiError, chatEvents } from "./api.js";
import { announce, button, byId, copyButton, element } from "./dom.js";
import { MarkdownView } from "./markdown.js";
import { newChat, read, saveChat, write } from "./store.js";

const MOST_ATTEMPTS = 6;
const SAVE_INTERVAL = 1000;

/** An answer that is being generated, or waits to be: it goes on when another chat is shown. */
class Run {
  constructor(chat, message, replaced) {
    Object.assign(this, { chat, message, replaced });
    this.controller = new AbortController();
    this.attempts = 0;
    this.began = performance.now();
  }

  /** Takes an answer of which nothing came out of the chat. The one before, if there was one, stays. */
  withdraw() {
    this.chat.messages.splice(-1, 1, ...(this.replaced ? [this.replaced] : []));
  }

  /** Counts tokens and times from the events. A continued answer adds to what it had. */
  measure(usage, isText) {
    if (!usage) return;
    const now = performance.now();
    const { stats } = this.message;
    stats.prompt = usage.prompt_tokens;
    stats.cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
    stats.tokens = usage.completion_tokens;
    if (!isText) return;
    if (this.first === undefined) {
      this.first = { at: now, tokens: usage.completion_tokens };
      stats.first = (now - this.began) / 1000;
    } else if (usage.completion_tokens > this.first.tokens) {
      stats.rate = ((usage.completion_tokens - this.first.tokens) * 1000) / (now - this.first.at);
    }
  }
}

/** What is shown of one message. */
class MessageView {
  constructor(message) {
    this.message = message;
    const isUser = message.role === "user";
    this.node = element("article", {
      class: `message ${message.role}`, "aria-label": isUser ? "You" : "Answer", tabindex: "-1",
    }); // prettier-ignore
    this.body = element("div", { class: isUser ? "said" : "prose" });
    if (!isUser) {
      this.thought = element("div", { class: "thought" });
      this.summary = element("summary");
      this.summary.addEventListener("click", () => (this.isToggled = true));
      this.details = element("details", { class: "thinking", hidden: true }, this.summary, this.thought);
      this.node.append(this.details);
      this.markdown = new MarkdownView(this.body);
    }
    this.foot = element("footer");
    this.node.append(this.body, this.foot);
    this.show(false);
  }

  show(isRunning) {
    const { message } = this;
    if (message.role === "user") {
      this.body.textContent = message.content;
      return;
    }
    this.node.classList.toggle("running", isRunning);
    this.node.setAttribute("aria-busy", String(isRunning));
    this.details.hidden = !message.reasoning;
    this.summary.textContent = isRunning && !message.content ? "Thinking" : "Thoughts";
    if (!this.isToggled) this.details.open = isRunning && !message.content;
    this.thought.textContent = message.reasoning ?? "";
    this.markdown.show(message.content);
    this.node.classList.toggle("empty", !message.content);
  }
}

export class Chat {
  #runs = new Map();
  #notices = new Map();
  #view = null;
  #frame = 0;
  #followsEnd = true;

  /** `host` has what the chat needs of the page: settings, the model, and what to do when the chat changes. */
  constructor(host) {
    this.host = host;
    this.current = newChat();
    this.log = byId("log");
    this.scroll = byId("scroll");
    this.prompt = byId("prompt");
    this.prompt.value = read("draft", "");
    this.#listen();
    this.#fit();
  }

  /** Whether the chat that is shown has an answer in progress. */
  get isRunning() {
    return this.#runs.has(this.current.id);
  }

  /** Whether a message is being changed. */
  get isEditing() {
    return this.log.querySelector(".editing") !== null;
  }

  /** Whether a chat has an answer in progress. */
  runs(id) {
    return this.#runs.has(id);
  }

  /** Shows a chat. One with an answer in progress is shown as it stands. */
  open(chat) {
    this.current = this.#runs.get(chat.id)?.chat ?? chat;
    this.#followsEnd = true;
    this.render();
  }

  /** Sends what is typed. */
  send() {
    const text = this.prompt.value.trim();
    if (!text || this.isRunning || !this.host.checkSettings()) return;
    this.current.messages.push({ role: "user", content: text });
    this.#type("");
    this.#generate();
  }

  /** Ends the answer in progress of a chat. */
  stop(id = this.current.id) {
    this.#runs.get(id)?.controller.abort();
  }

  /** Ends the answer in progress of a chat that is being deleted, and does not store it. */
  discard(id) {
    const run = this.#runs.get(id);
    if (run) run.isDiscarded = true;
    this.stop(id);
  }

  /** Generates the last answer anew, or the one that is missing. */
  retry() {
    if (this.isRunning || !this.host.checkSettings()) return;
    const { messages } = this.current;
    const replaced = messages.at(-1)?.role === "assistant" ? messages.pop() : null;
    if (messages.length) this.#generate({ replaced });
  }

  /** Lets the model go on with the last answer. */
  continue() {
    if (!this.isRunning && this.host.checkSettings()) this.#generate({ continues: true });
  }

  /** Opens the last message of the user for changes. */
  edit() {
    const number = this.current.messages.findLastIndex((message) => message.role === "user");
    if (number < 0 || this.isRunning) return;
    const message = this.current.messages[number];
    const view = this.log.children[number];
    const area = element("textarea", { class: "editor", "aria-label": "Your message" });
    area.value = message.content;
    const submit = () => {
      const text = area.value.trim();
      if (!text || !this.host.checkSettings()) return;
      this.current.messages.splice(number, Infinity, { role: "user", content: text });
      this.#generate();
      this.prompt.focus();
    };
    const cancel = () => {
      this.render();
      this.prompt.focus();
    };
    area.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        event.stopPropagation();
        cancel();
      } else if (isSubmit(event)) {
        event.preventDefault();
        submit();
      }
    });
    area.addEventListener("input", () => fit(area));
    const actions = element("div", { class: "actions" });
    actions.append(button({ text: "Cancel", kind: "plain" }, cancel), button({ text: "Send", kind: "primary" }, submit));
    view.classList.add("editing");
    view.replaceChildren(area, actions);
    fit(area);
    area.focus();
    area.setSelectionRange(area.value.length, area.value.length);
  }

  /** The chat as the body of a request, which any client of the API can send. */
  export() {
    return { ...this.#body(), messages: this.#messages(this.current) };
  }

  /** Shows all of the chat anew. */
  render() {
    const { messages } = this.current;
    const run = this.#runs.get(this.current.id);
    const views = messages.map((message) => new MessageView(message));
    this.log.replaceChildren(...views.map((view) => view.node));
    this.#view = run && views.length ? views.at(-1) : null;
    views.forEach((view, number) => this.#decorate(view, number));
    this.log.classList.toggle("blank", !messages.length);
    if (!messages.length) this.log.replaceChildren(this.host.welcome());
    this.#view?.show(true);
    this.#showNotice();
    this.host.changed();
    this.#follow();
  }

  #body() {
    const { system: _, ...sampling } = this.host.settings();
    return { model: this.host.model()?.id, ...sampling };
  }

  #messages(chat) {
    const { system } = this.host.settings();
    const messages = chat.messages.map(({ role, content }) => ({ role, content }));
    return system ? [{ role: "system", content: system }, ...messages] : messages;
  }

  /** Generates an answer, or more of the last one. `replaced` is the answer before, which stays if no other comes. */
  async #generate({ continues = false, replaced = null } = {}) {
    const chat = this.current;
    const messages = this.#messages(chat);
    if (!continues) chat.messages.push({ role: "assistant", content: "", stats: {} });
    const message = chat.messages.at(-1);
    const before = message.content;
    const run = new Run(chat, message, replaced);
    delete message.end;
    this.#runs.set(chat.id, run);
    this.#notices.delete(chat.id);
    this.#touch(chat);
    this.#followsEnd = true;
    this.render();
    const body = {
      ...this.#body(), messages, stream: true,
      stream_options: { include_usage: true, continuous_usage_stats: true },
      ...(continues ? { continue_final_message: true, add_generation_prompt: false } : {}),
    }; // prettier-ignore
    const hasText = () => message.content !== before || Boolean(message.reasoning && !continues);
    try {
      for (;;) {
        try {
          await this.#stream(run, body);
          break;
        } catch (error) {
          if (!(error instanceof ApiError) || !error.isTemporary || hasText()) throw error;
          if (error.status === 429 && ++run.attempts >= MOST_ATTEMPTS) throw error; // a large model loads for minutes
          await this.#wait(run, error);
        }
      }
      announce("The answer is complete");
    } catch (error) {
      if (!hasText() && !continues) run.withdraw();
      this.#fail(run, error, hasText(), continues);
    } finally {
      this.#runs.delete(chat.id);
      if (this.#notices.get(chat.id)?.isWaiting) this.#notices.delete(chat.id);
      if (!run.isDiscarded) this.#touch(chat);
      if (chat.id === this.current.id) {
        const hadFocus = document.activeElement === byId("stop") || document.activeElement === document.body;
        this.render();
        if (hadFocus) this.prompt.focus({ preventScroll: true });
      }
      this.host.changed();
    }
  }

  async #stream(run, body) {
    const { message, chat } = run;
    let saved = performance.now();
    run.began = performance.now();
    for await (const event of chatEvents(body, run.controller.signal)) {
      this.host.reached();
      const [choice] = event.choices;
      const { content, reasoning } = choice?.delta ?? {};
      if (reasoning) message.reasoning = (message.reasoning ?? "") + reasoning;
      if (content) message.content += content;
      if (choice?.finish_reason) message.end = choice.finish_reason;
      run.measure(event.usage, Boolean(content || reasoning));
      if (performance.now() - saved > SAVE_INTERVAL) {
        saved = performance.now();
        if (!run.isDiscarded) saveChat(chat);
      }
      this.#scheduleShow(chat);
    }
  }

  /** Waits as long as the server wants, and shows how long that is. */
  #wait(run, error) {
    const seconds = Math.max(Math.ceil(error.retryAfter ?? 1), 1);
    const end = performance.now() + seconds * 1000;
    const { signal } = run.controller;
    return new Promise((resolve, reject) => {
      const finish = (act, value) => {
        clearInterval(timer);
        signal.removeEventListener("abort", abort);
        if (act === resolve) this.#notices.delete(run.chat.id);
        if (run.chat.id === this.current.id) this.#showNotice();
        act(value);
      };
      const abort = () => finish(reject, signal.reason);
      const show = () => {
        const left = Math.ceil((end - performance.now()) / 1000);
        if (left <= 0) {
          finish(resolve);
          return;
        }
        const why = error.status === 429 ? "The server is busy." : sentence(error.message);
        const text = `${why} Trying again in ${left} s.`;
        this.#notices.set(run.chat.id, { text, isWaiting: true, isQuiet: true, now: () => finish(resolve) });
        if (run.chat.id === this.current.id) this.#showNotice();
      };
      const timer = setInterval(show, 250);
      signal.addEventListener("abort", abort);
      show();
    });
  }

  #fail(run, error, hasText, continues) {
    const { chat, message } = run;
    if (run.controller.signal.aborted) {
      if (hasText || continues) message.end = "stopped";
      announce("Stopped");
      return;
    }
    if (hasText) message.end = "broken";
    if (!(error instanceof ApiError)) {
      console.error(error);
      error = new ApiError("this page failed; the console of the browser has the reason");
    }
    const notice = { text: sentence(error.message), retry: hasText ? null : "Try again" };
    if (continues && !hasText) Object.assign(notice, { retry: null });
    if (error.status === 0) {
      notice.text += hasText ? " What has come is kept." : " Your message is kept.";
      this.host.lost();
    }
    if (error.status === 401) {
      notice.text = "This server requires an API key.";
      this.host.askForKey(error.message).then((given) => given && chat.id === this.current.id && this.retry());
    }
    if (error.code === "context_length_exceeded") {
      const room = this.host.model()?.max_model_len?.toLocaleString("en");
      const context = `the context${room ? ` of ${room} tokens` : ""}`;
      const isAlone = chat.messages.length === 1;
      notice.text = isAlone ? `This message is longer than ${context}.` : `This chat no longer fits into ${context}.`;
      notice.retry = null;
      notice.cure = isAlone ? "shorten" : "move";
    }
    this.#notices.set(chat.id, notice);
  }

  #showNotice() {
    const place = byId("notice");
    const { messages } = this.current;
    let notice = this.#notices.get(this.current.id);
    if (!notice && !this.isRunning && messages.at(-1)?.role === "user") {
      notice = { text: "This message has no answer.", retry: "Try again", isQuiet: true };
    }
    if (!notice) {
      place.replaceChildren();
      return;
    }
    const shown = place.firstElementChild;
    if (notice.isWaiting && shown?.dataset.waits) {
      shown.firstElementChild.textContent = notice.text; // a new alert each second would be read aloud each second
      return;
    }
    const node = element("div", { class: `notice ${notice.isQuiet ? "mild" : ""}`, role: notice.isQuiet ? "status" : "alert" });
    node.append(element("p", {}, notice.text));
    if (notice.isWaiting) {
      node.dataset.waits = "yes";
      node.firstElementChild.setAttribute("aria-live", "off");
      node.append(button({ text: "Now", kind: "plain" }, () => this.#notices.get(this.current.id)?.now?.()));
      node.append(button({ text: "Stop", kind: "plain" }, () => this.stop()));
    }
    if (notice.retry) node.append(button({ text: notice.retry, kind: "plain" }, () => this.retry()));
    if (notice.cure === "shorten") node.append(button({ text: "Edit", kind: "plain" }, () => this.edit()));
    if (notice.cure === "move") {
      const text = messages.at(-1)?.role === "user" ? "New chat with this message" : "New chat";
      node.append(button({ text, kind: "plain" }, () => this.#moveOn()));
    }
    place.replaceChildren(node);
    this.#follow();
  }

  /** Takes the last message, which did not fit, to a new chat. */
  #moveOn() {
    const { messages } = this.current;
    const last = messages.at(-1)?.role === "user" ? messages.pop() : null;
    this.#notices.delete(this.current.id);
    saveChat(this.current);
    this.host.startChat();
    if (last) this.#type(last.content);
    this.prompt.focus();
  }

  /** Adds what can be done with a message, and what it cost. */
  #decorate(view, number) {
    const { messages } = this.current;
    const { message, foot } = view;
    const isLast = number === messages.length - 1;
    foot.replaceChildren();
    if (this.#view === view) {
      view.meter = element("span", { class: "stats" });
      foot.append(view.meter);
      return;
    }
    const actions = element("div", { class: "tools" });
    actions.append(copyButton("Copy", () => message.content));
    if (!this.isRunning) {
      const lastUser = messages.findLastIndex((each) => each.role === "user");
      if (number === lastUser) actions.append(button({ name: "edit", label: "Edit", kind: "icon small" }, () => this.edit()));
      if (isLast && message.role === "assistant") {
        actions.append(button({ name: "retry", label: "Generate again", kind: "icon small" }, () => this.retry()));
        if (message.end !== "stop" && message.content) {
          actions.append(button({ text: "Continue", kind: "link" }, () => this.continue()));
        }
      }
    }
    if (message.role === "assistant") foot.append(element("span", { class: "stats" }, statsOf(message)));
    foot.append(actions);
  }

  #scheduleShow(chat) {
    if (chat.id !== this.current.id || this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      if (!this.#view) return;
      this.#view.show(true);
      this.#view.meter.textContent = statsOf(this.#view.message);
      this.host.measured(this.#view.message.stats);
      this.#follow();
    });
  }

  #touch(chat) {
    chat.updated = Date.now();
    saveChat(chat);
    this.host.changed();
  }

  #type(text) {
    this.prompt.value = text;
    write("draft", text || null);
    this.#fit();
    this.host.changed();
  }

  #fit() {
    fit(this.prompt);
  }

  #follow() {
    if (this.#followsEnd) this.scroll.scrollTop = this.scroll.scrollHeight;
    byId("to-end").hidden = this.#followsEnd;
  }

  #listen() {
    this.prompt.addEventListener("input", () => {
      write("draft", this.prompt.value || null);
      this.#fit();
      this.host.changed();
    });
    this.prompt.addEventListener("keydown", (event) => {
      if (isSubmit(event)) {
        event.preventDefault();
        this.send();
      } else if (event.key === "ArrowUp" && !this.prompt.value) {
        event.preventDefault();
        this.edit();
      }
    });
    byId("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    byId("stop").addEventListener("click", () => this.stop());
    this.scroll.addEventListener("scroll", () => {
      const { scrollTop, scrollHeight, clientHeight } = this.scroll;
      this.#followsEnd = scrollHeight - scrollTop - clientHeight < 40;
      byId("to-end").hidden = this.#followsEnd;
    });
    byId("to-end").addEventListener("click", () => {
      this.#followsEnd = true;
      this.#follow();
    });
    new ResizeObserver(() => this.#follow()).observe(this.scroll);
    window.addEventListener("pagehide", () => {
      for (const run of this.#runs.values()) {
        run.message.end = "broken";
        if (!run.message.content && !run.message.reasoning) run.withdraw();
        saveChat(run.chat);
      }
    });
  }
}

/** Whether a key sends. The Enter that ends the input of a Chinese or Japanese word does not. */
function isSubmit(event) {
  return event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229;
}

/** Makes a text area as high as its text. Its style sheet has the bounds. */
function fit(area) {
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}

function sentence(text) {
  const trimmed = text.trim();
  return `${trimmed[0]?.toUpperCase() ?? ""}${trimmed.slice(1)}${/[.!?]$/.test(trimmed) ? "" : "."}`;
}

/** What an answer cost, in words. */
function statsOf({ stats, end }) {
  if (!stats) return "";
  const { prompt, cached, tokens, first, rate } = stats;
  const ends = { length: "token limit reached", stopped: "stopped", broken: "broken off" };
  return [
    tokens && `${tokens} token${tokens === 1 ? "" : "s"}`,
    rate && `${rate < 100 ? rate.toFixed(1) : Math.round(rate)} tok/s`,
    first !== undefined && `first after ${first < 10 ? first.toFixed(2) : first.toFixed(0)} s`,
    prompt && `prompt ${prompt}${cached ? `, ${cached} cached` : ""}`,
    ends[end],
  ].filter(Boolean).join(" \u00b7 "); // prettier-ignore
}
