// Elements and texts. A string only ever becomes a text node: nothing here parses markup.

const SVG = "http://www.w3.org/2000/svg";

/** Makes an element. Attributes whose value is false or null are left out; children are nodes or strings. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value != null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** Makes an element of SVG. */
export function shape(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** An icon of the page. */
export function icon(name) {
  return shape("svg", { "aria-hidden": "true" }, shape("use", { href: `#i-${name}` }));
}

/** A button with an icon, a text or both. A button that shows no text is named by its label. */
export function button({ name, label, text, kind }, act) {
  const shown = [...(name ? [icon(name)] : []), ...(text ? [text] : [])];
  const made = element("button", { type: "button", class: kind, "aria-label": label, title: label }, ...shown);
  made.addEventListener("click", act);
  return made;
}

/** The element of the page with an id. */
export function byId(id) {
  return document.getElementById(id);
}

/** Reads a short message to users of screen readers. */
export function announce(text) {
  byId("announce").textContent = text;
}

/** Copies a text. Pages that came without TLS from another machine have no clipboard, but still the old command. */
export async function copy(text) {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // The user may have denied it: the old command may still work.
    }
  }
  const area = element("textarea", { class: "hidden", "aria-hidden": "true" });
  const before = document.activeElement;
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  before?.focus();
  return copied;
}

/** A button that copies what `read` returns, and shows that it did. */
export function copyButton(label, read) {
  const made = button({ name: "copy", label, kind: "icon small" }, async () => {
    const copied = await copy(read());
    announce(copied ? "Copied" : "The browser did not allow copying");
    if (!copied) return;
    made.replaceChildren(icon("check"));
    setTimeout(() => made.replaceChildren(icon("copy")), 1500);
  });
  return made;
}
