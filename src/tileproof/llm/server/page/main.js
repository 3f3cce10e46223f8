// The page around the chat and the engine: its two views, the list of chats, the theme, the key, the state of the server.

import { request } from "./api.js";
import { Chat } from "./chat.js";
import { announce, button, byId, copyButton, element } from "./dom.js";
import { Engine } from "./engine.js";
import { Settings } from "./settings.js";
import * as store from "./store.js";

const RETRY = 2000;
const NARROW = matchMedia("(max-width: 56rem)");
const THEMES = { system: "Theme: system", light: "Theme: light", dark: "Theme: dark" };

const settings = new Settings();
let model = null;
let connecting = null;
let stored = store.chats();

// The server and its model.

function showStatus(state, text) {
  const dot = byId("status");
  if (dot.dataset.state === state) return;
  dot.dataset.state = state;
  dot.setAttribute("aria-label", text);
  dot.title = text;
}

/** Asks the server for its model until it answers. */
async function connect() {
  clearTimeout(connecting);
  connecting = null;
  try {
    const answer = await request("v1/models");
    model = (await answer.json()).data[0];
    showStatus("ready", "Ready");
    settings.describe(model);
    byId("model").textContent = model.id;
    byId("context").textContent = `${model.max_model_len.toLocaleString("en")} tokens of context`;
    document.title = `${model.id} \u00b7 tileproof`;
    if (!chat.current.messages.length) chat.render();
    refresh();
  } catch (error) {
    if (error.status === 401) {
      showStatus("locked", "An API key is required");
      askForKey(error.message);
      return;
    }
    if (error.status === 503) showStatus("loading", "The model is being loaded");
    else showStatus("gone", error.status ? error.message : "The server cannot be reached");
    connecting = setTimeout(connect, RETRY);
  }
}

function lost() {
  showStatus("gone", "The server cannot be reached");
  connecting ??= setTimeout(connect, RETRY);
}

function reached() {
  if (model) showStatus("ready", "Ready");
}

// The key.

let asking = null;

/** Asks the user for the key; whoever asks meanwhile waits for the same answer, which is whether there is one. */
function askForKey(why) {
  asking ??= new Promise((resolve) => {
    const dialog = byId("key-dialog");
    byId("key-why").textContent = why.startsWith("the API key is wrong") ? "The server does not know this key." : why && "This server requires an API key.";
    byId("key").value = store.apiKey.value;
    byId("keep-key").checked = store.apiKey.isKept;
    dialog.returnValue = "";
    dialog.showModal();
    byId("key").select();
    dialog.addEventListener("close", () => {
      asking = null;
      const isGiven = dialog.returnValue === "given";
      if (isGiven) store.apiKey.set(byId("key").value.trim(), byId("keep-key").checked);
      byId("key").value = "";
      if (isGiven) connect();
      resolve(isGiven);
    }, { once: true }); // prettier-ignore
  });
  return asking;
}

byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  byId("key-dialog").close("given");
});
byId("cancel-key").addEventListener("click", () => byId("key-dialog").close());
byId("change-key").addEventListener("click", () => askForKey(""));

// The views.

const isEngine = () => location.pathname.endsWith("/engine");

function showView() {
  const onEngine = isEngine();
  byId("chat-view").hidden = onEngine;
  byId("engine-view").hidden = !onEngine;
  byId("to-engine").hidden = onEngine;
  byId("to-chat").hidden = !onEngine;
  byId("export").hidden = byId("open-settings").hidden = onEngine;
  if (onEngine) {
    showSettings(false);
    engine.start();
  } else chat.render();
  refresh();
}

function go(path) {
  showSidebar(false);
  if (isEngine() !== (path === "engine")) {
    history.pushState(null, "", path);
    showView();
  }
}

for (const [id, path] of [["to-engine", "engine"], ["to-chat", "./"]]) {
  byId(id).addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab or window
    event.preventDefault();
    go(path);
  });
} // prettier-ignore
window.addEventListener("popstate", showView);

// Panels. On a narrow screen they lie above the page, which is inert meanwhile.

function showPanel(panel, opener, isOpen) {
  panel.classList.toggle("open", isOpen);
  if (panel.id === "settings") panel.hidden = !isOpen;
  opener.setAttribute("aria-expanded", String(isOpen));
  const covers = NARROW.matches && isOpen;
  byId("middle").inert = covers;
  byId("backdrop").hidden = !covers;
}

function showSidebar(isOpen) {
  const was = byId("sidebar").classList.contains("open");
  showPanel(byId("sidebar"), byId("open-sidebar"), isOpen);
  byId("sidebar").inert = NARROW.matches && !isOpen;
  if (isOpen) byId("close-sidebar").focus();
  else if (was && NARROW.matches) byId("open-sidebar").focus();
}

function showSettings(isOpen) {
  const was = !byId("settings").hidden;
  showPanel(byId("settings"), byId("open-settings"), isOpen);
  if (isOpen && !was) byId("system").focus();
  else if (was && !isOpen) byId("open-settings").focus();
}

byId("open-sidebar").addEventListener("click", () => showSidebar(true));
byId("close-sidebar").addEventListener("click", () => showSidebar(false));
byId("open-settings").addEventListener("click", () => showSettings(byId("settings").hidden));
byId("close-settings").addEventListener("click", () => showSettings(false));
byId("backdrop").addEventListener("click", () => {
  showSidebar(false);
  showSettings(false);
});
NARROW.addEventListener("change", () => {
  showSidebar(false);
  showSettings(false);
});

// The list of chats.

function startChat() {
  go("./");
  chat.open(store.newChat());
  store.write("open", null);
  chat.prompt.focus();
}

function openChat(id) {
  go("./");
  const found = store.chat(id);
  if (!found) return;
  chat.open(found);
  store.write("open", id);
  showSidebar(false);
  chat.prompt.focus({ preventScroll: true });
}

function deleteChat(id, title) {
  if (!confirm(`Delete \u201c${title}\u201d?`)) return;
  chat.discard(id);
  store.removeChat(id);
  stored = store.chats();
  if (id === chat.current.id) startChat();
  else refresh();
}

function deleteAll() {
  if (!confirm("Delete all chats that this browser has?")) return;
  for (const { id } of store.chats()) {
    chat.discard(id);
    store.removeChat(id);
  }
  stored = [];
  startChat();
  announce("All chats are deleted");
}

byId("new-chat").addEventListener("click", startChat);
byId("delete-all").addEventListener("click", deleteAll);
byId("export").addEventListener("click", () => {
  const blob = new Blob([`${JSON.stringify(chat.export(), null, 2)}\n`], { type: "application/json" });
  const link = element("a", { href: URL.createObjectURL(blob), download: `chat-${chat.current.id}.json` });
  link.click();
  URL.revokeObjectURL(link.href);
});

let listed = "";

function showChats() {
  const view = isEngine() ? "" : chat.current.id;
  const state = JSON.stringify([view, stored.map((each) => [each.id, store.titleOf(each), chat.runs(each.id)])]);
  if (state === listed) return; // whatever has the focus there keeps it
  listed = state;
  const nodes = stored.map((each) => {
    const title = store.titleOf(each);
    const isCurrent = each.id === view;
    const open = element("a", { href: "./", "aria-current": isCurrent && "true", class: chat.runs(each.id) && "busy" }, title);
    open.addEventListener("click", (event) => {
      event.preventDefault();
      openChat(each.id);
    });
    const remove = button({ name: "trash", label: `Delete \u201c${title}\u201d`, kind: "icon small" }, () => deleteChat(each.id, title));
    return element("li", {}, open, remove);
  });
  byId("chats").replaceChildren(...nodes);
  byId("delete-all").hidden = !stored.length;
}

/** Brings what stands around the chat up to date. */
function refresh() {
  const { current } = chat;
  if (current.messages.length) {
    const at = stored.findIndex((each) => each.id === current.id);
    if (at < 0) stored.unshift(current);
    else stored[at] = current;
    stored.sort((one, other) => other.updated - one.updated);
    store.write("open", current.id);
  }
  showChats();
  byId("send").hidden = chat.isRunning;
  byId("stop").hidden = !chat.isRunning;
  byId("send").disabled = !chat.prompt.value.trim();
  byId("export").disabled = !current.messages.length;
  showRoom(current.messages.findLast((message) => message.stats?.tokens)?.stats);
}

/** How much of the context the chat has filled. */
function showRoom(stats) {
  const used = stats ? (stats.prompt ?? 0) + (stats.tokens ?? 0) : 0;
  const room = model?.max_model_len;
  const place = byId("room");
  place.textContent = used && room ? `${used.toLocaleString("en")} of ${room.toLocaleString("en")} tokens` : "";
  place.classList.toggle("full", Boolean(room) && used > 0.9 * room);
}

/** What an empty chat shows. */
function welcome() {
  const base = new URL("v1", document.baseURI).href;
  const address = element("code", {}, base);
  return element(
    "div", { class: "welcome" },
    element("img", { src: "page/icon.svg", alt: "", width: 44, height: 44 }),
    element("h2", {}, model?.id ?? "tileproof"),
    element("p", {}, "Every kernel behind an answer is proved free of races and of accesses out of bounds."),
    element("p", { class: "base" }, element("span", {}, "Base URL for clients"), address, copyButton("Copy the base URL", () => base)),
  ); // prettier-ignore
}

// The theme.

function showTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  byId("theme").lastElementChild.textContent = THEMES[theme];
}

byId("theme").addEventListener("click", () => {
  const names = Object.keys(THEMES);
  const theme = names[(names.indexOf(store.read("theme", "system")) + 1) % names.length];
  store.write("theme", theme === "system" ? null : theme);
  showTheme(theme);
});

// Keys that hold everywhere.

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || byId("key-dialog").open) return;
  if (chat.isRunning && !isEngine()) chat.stop();
  else if (byId("sidebar").classList.contains("open")) showSidebar(false);
  else if (!byId("settings").hidden) showSettings(false);
});

const host = {
  settings: () => settings.values,
  checkSettings: () => {
    if (settings.isValid) return true;
    showSettings(true);
    settings.form.reportValidity();
    return false;
  },
  model: () => model,
  changed: refresh,
  measured: showRoom,
  welcome, startChat, askForKey, lost, reached,
}; // prettier-ignore
const chat = new Chat(host);
const engine = new Engine(host);

store.onFullStorage(() => announce("The browser has no room for this chat; export it to keep it"));
store.onChatChanged((id) => {
  stored = store.chats();
  const changed = store.chat(chat.current.id);
  if ((id === null || id === chat.current.id) && changed && !chat.isRunning && !chat.isEditing) chat.open(changed);
  else refresh();
});
showTheme(store.read("theme", "system"));
showSidebar(false);
const last = store.chat(store.read("open", ""));
if (last) chat.open(last);
showView();
connect();
if (!NARROW.matches && !isEngine()) chat.prompt.focus();
