// The few forms of Markdown that models write most: paragraphs, headings, lists, code, bold and italic. Everything else
// stays as it was written: there are no links, no images and no HTML.

import { copyButton, element } from "./dom.js";

const FENCE = /^(\s*)(`{3,}|~{3,})(.*)$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*)$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const RULE = /^ {0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/;
const DEEPEST = 6;

/** The blocks of a text. A block has a type, its lines and what its type needs; an unclosed one ends with the text. */
export function blocksOf(text) {
  const blocks = [];
  const lines = text.split("\n");
  let open = null; // the paragraph or list that the next line may continue
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at];
    const fence = FENCE.exec(line);
    if (fence && !fence[3].includes("`")) {
      const [, indent, mark, info] = fence;
      const code = { type: "code", language: info.trim().split(/\s/)[0], lines: [] };
      for (at++; at < lines.length; at++) {
        const trimmed = lines[at].trim();
        if (trimmed.length >= mark.length && trimmed === mark[0].repeat(trimmed.length)) break;
        code.lines.push(lines[at].startsWith(indent) ? lines[at].slice(indent.length) : lines[at].trimStart());
      }
      blocks.push(code);
      open = null;
      continue;
    }
    const heading = HEADING.exec(line);
    const item = ITEM.exec(line);
    if (!line.trim()) {
      if (open?.type === "list") open.isBroken = true;
      else open = null;
    } else if (heading) {
      blocks.push({ type: "heading", level: heading[1].length, lines: [heading[2]] });
      open = null;
    } else if (RULE.test(line)) {
      blocks.push({ type: "rule", lines: [line] });
      open = null;
    } else if (item) {
      if (open?.type !== "list") blocks.push((open = { type: "list", lines: [], items: [] }));
      open.items.push({ indent: item[1].length, mark: item[2], lines: [item[3]] });
      open.lines.push(line);
      open.isBroken = false;
    } else if (open?.type === "list" && (!open.isBroken || /^\s/.test(line))) {
      open.items.at(-1).lines.push(line.trim());
      open.lines.push(line);
    } else {
      if (open?.type !== "paragraph") blocks.push((open = { type: "paragraph", lines: [] }));
      open.lines.push(line);
    }
  }
  return blocks;
}

/** The nodes of a line of text: code, bold, italic, and strings. */
export function inline(text, marks = ["**", "*"]) {
  const nodes = [];
  let plain = "";
  const put = (node) => {
    if (plain) nodes.push(plain);
    plain = "";
    nodes.push(node);
  };
  for (let at = 0; at < text.length; ) {
    const span = codeSpan(text, at);
    if (span) {
      put(element("code", {}, span.code));
      at = span.end;
      continue;
    }
    if (text[at] === "`") {
      const length = run(text, at);
      plain += text.slice(at, at + length);
      at += length;
      continue;
    }
    const mark = marks.find((each) => text.startsWith(each, at));
    const end = mark ? closing(text, at, mark) : -1;
    if (end >= 0) {
      const inner = inline(text.slice(at + mark.length, end), marks.filter((each) => each !== mark));
      put(element(mark === "**" ? "strong" : "em", {}, ...inner));
      at = end + mark.length;
      continue;
    }
    const width = mark?.length ?? 1;
    plain += text.slice(at, at + width);
    at += width;
  }
  if (plain) nodes.push(plain);
  return nodes;
}

/** Where the mark that opens at a place is closed, or -1. Space inside of either mark leaves it an ordinary star. */
function closing(text, at, mark) {
  const begin = at + mark.length;
  if (!text[begin] || /[\s*]/.test(text[begin])) return -1;
  const end = text.indexOf(mark, begin + 1);
  return end >= 0 && !/\s/.test(text[end - 1]) ? end : -1;
}

function run(text, at) {
  let end = at;
  while (text[end] === "`") end++;
  return end - at;
}

function codeSpan(text, at) {
  if (text[at] !== "`") return null;
  const length = run(text, at);
  for (let end = text.indexOf("`", at + length); end >= 0; ) {
    const closes = run(text, end);
    if (closes === length) return { code: text.slice(at + length, end).replace(/^ (.+) $/, "$1"), end: end + length };
    end = text.indexOf("`", end + closes);
  }
  return null;
}

function rendered(block) {
  switch (block.type) {
    case "code": {
      const code = element("code", {}, block.lines.join("\n"));
      const head = element("div", { class: "code-head" }, element("span", {}, block.language || "text"));
      head.append(copyButton("Copy the code", () => code.textContent));
      return element("div", { class: "code" }, head, element("pre", { tabindex: "0" }, code));
    }
    case "heading":
      return element(`h${Math.min(block.level + 2, 6)}`, {}, ...inline(block.lines[0]));
    case "rule":
      return element("hr");
    case "list":
      return list(block.items);
    default:
      return element("p", {}, ...inline(block.lines.join("\n")));
  }
}

/** Nested lists, by how far their items are indented. */
function list(items) {
  const top = { indent: -1, node: element("div") };
  const stack = [top];
  for (const item of items) {
    while (stack.length > 2 && stack.at(-1).indent > item.indent) stack.pop();
    let last = stack.at(-1);
    const tag = /\d/.test(item.mark) ? "ol" : "ul";
    const isDeeper = item.indent >= last.indent + 2 || last === top;
    if (isDeeper && stack.length <= DEEPEST) {
      const node = element(tag);
      (last === top ? top.node : last.node.lastElementChild).append(node);
      stack.push((last = { indent: item.indent, node }));
    } else if (last.node.localName !== tag) {
      const node = element(tag);
      last.node.parentNode.append(node);
      last.node = node;
    }
    const value = tag === "ol" ? Number.parseInt(item.mark, 10) : null;
    last.node.append(element("li", { value }, ...inline(item.lines.join("\n"))));
  }
  return top.node;
}

/** Shows a text that grows in an element. Blocks that are as before keep their nodes, and so what is selected there. */
export class MarkdownView {
  #keys = [];

  constructor(node) {
    this.node = node;
  }

  show(text) {
    const blocks = blocksOf(text);
    const keys = blocks.map((block) => [block.type, block.language ?? block.level ?? "", ...block.lines].join("\n"));
    let same = 0;
    while (same < keys.length && keys[same] === this.#keys[same]) same++;
    while (this.node.childNodes.length > same) this.node.lastChild.remove();
    for (const block of blocks.slice(same)) this.node.append(rendered(block));
    this.#keys = keys;
  }
}
