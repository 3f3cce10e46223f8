// What stays in the browser: chats, settings and the key. A browser that stores nothing still has a page that works.

const PREFIX = "tileproof.";
const CHAT = `${PREFIX}chat.`;
let reportFailure = () => {};

/** Sets what is called when the browser has no room left, or allows no storage. */
export function onFullStorage(report) {
  reportFailure = report;
}

/** A stored value, or the fallback. */
export function read(name, fallback, storage = "localStorage") {
  try {
    return JSON.parse(window[storage].getItem(PREFIX + name)) ?? fallback;
  } catch {
    return fallback;
  }
}

/** Stores a value; null removes it. */
export function write(name, value, storage = "localStorage") {
  try {
    if (value === null) window[storage].removeItem(PREFIX + name);
    else window[storage].setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    reportFailure();
  }
}

/** A new chat, which is stored once it has a message. */
export function newChat() {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  const id = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { id, updated: Date.now(), messages: [] };
}

/** The chats there are, the newest first. Each has its own entry, so that two tabs do not overwrite each other's. */
export function chats() {
  let names = [];
  try {
    names = Object.keys(localStorage).filter((name) => name.startsWith(CHAT));
  } catch {
    // No storage: there are none.
  }
  const found = names.map((name) => chat(name.slice(CHAT.length))).filter((each) => each !== null);
  return found.sort((one, other) => other.updated - one.updated);
}

/** The chat with an id, or null. */
export function chat(id) {
  const found = read(`chat.${id}`, null);
  if (!Array.isArray(found?.messages)) return null;
  const isMessage = (each) => typeof each?.content === "string" && ["user", "assistant"].includes(each.role);
  return { id, updated: Number(found.updated) || 0, messages: found.messages.filter(isMessage) };
}

/** Stores a chat. */
export function saveChat(chat) {
  if (chat.messages.length) write(`chat.${chat.id}`, { updated: chat.updated, messages: chat.messages });
}

/** Removes a chat. */
export function removeChat(id) {
  write(`chat.${id}`, null);
}

/** What a chat is called: the beginning of its first message. */
export function titleOf(chat) {
  const first = chat.messages.find((message) => message.role === "user")?.content ?? "";
  return first.replace(/\s+/g, " ").trim().slice(0, 80) || "New chat";
}

/** The key of the server: for this tab, or for good if the user wants it. */
export const apiKey = {
  get value() {
    return read("key", "", "sessionStorage") || read("key", "");
  },
  get isKept() {
    return Boolean(read("key", ""));
  },
  set(key, isKept) {
    write("key", key && !isKept ? key : null, "sessionStorage");
    write("key", key && isKept ? key : null);
  },
};

/** Calls back when another tab has changed a chat. */
export function onChatChanged(report) {
  window.addEventListener("storage", (event) => {
    if (event.key === null || event.key.startsWith(CHAT)) report(event.key?.slice(CHAT.length) ?? null);
  });
}
