// Charts of the last minutes, drawn as SVG.

import { element, shape } from "./dom.js";

const HEIGHT = 120;
const BASE = 100; // where zero is; the times stand below
const TOP = 8;
const GAP = 4000;

/** A chart of some series over time, with a headline that shows the newest values or those under the pointer. */
export class TimeChart {
  #samples = [];
  #pointed = null;

  /** `series` are `{ name, kind, format }`; `least` is the least height of the axis. */
  constructor({ title, note, series, least, most, axis }) {
    Object.assign(this, { title, series, least, most, axis });
    this.values = series.map(() => element("b", {}, "\u2013"));
    const headline = element("div", { class: "headline" });
    series.forEach(({ name, kind }, number) => {
      const label = element("span", { class: `label ${series.length > 1 ? `key ${kind}` : ""}` }, name);
      headline.append(element("div", {}, this.values[number], label));
    });
    this.when = element("span", { class: "when" });
    this.svg = shape("svg", { class: "chart", role: "img", height: HEIGHT });
    this.node = element(
      "section", { class: "card" },
      element("h2", {}, title, this.when), headline, this.svg, element("p", { class: "quiet" }, note),
    ); // prettier-ignore
    this.svg.addEventListener("pointermove", (event) => this.#point(event));
    this.svg.addEventListener("pointerleave", () => {
      this.#pointed = null;
      this.draw();
    });
    new ResizeObserver(() => this.draw()).observe(this.svg);
  }

  /** Shows the samples of the last `span` ms: `{ time, values }` from the oldest on. A value may be null. */
  show(samples, span) {
    this.#samples = samples;
    this.span = span;
    this.draw();
  }

  draw() {
    const width = this.svg.clientWidth;
    if (!width) return;
    const now = this.#samples.at(-1)?.time ?? Date.now();
    const seen = this.#samples.filter((sample) => sample.time >= now - this.span);
    const largest = Math.max(this.least, ...seen.flatMap((sample) => sample.values.map((value) => value ?? 0)));
    const ceiling = this.most ?? rounded(largest);
    const x = (time) => width - ((now - time) / this.span) * width;
    const y = (value) => BASE - (Math.min(value, ceiling) / ceiling) * (BASE - TOP);
    const parts = [];
    for (const share of [0, 0.5, 1]) {
      const level = Math.round(y(ceiling * share)) + 0.5;
      parts.push(shape("line", { class: share ? "grid" : "grid base", x1: 0, x2: width, y1: level, y2: level }));
      if (share) parts.push(shape("text", { x: 0, y: level + 11 }, this.axis(ceiling * share)));
    }
    const minutes = this.span / 60000;
    parts.push(shape("text", { x: 0, y: HEIGHT - 4 }, `${minutes} min ago`));
    parts.push(shape("text", { x: width, y: HEIGHT - 4, "text-anchor": "end" }, "now"));
    this.series.forEach(({ kind }, number) => {
      for (const line of unbroken(seen, number)) {
        const points = line.map(({ time, value }) => `${x(time).toFixed(1)},${y(value).toFixed(1)}`);
        const [begin, end] = [x(line[0].time).toFixed(1), x(line.at(-1).time).toFixed(1)];
        if (kind === "main") parts.push(shape("path", { class: "area", d: `M${begin},${BASE}L${points.join("L")}L${end},${BASE}Z` }));
        parts.push(shape("path", { class: `line ${kind}`, d: `M${points.join("L")}` }));
      }
    });
    const shown = this.#nearest(seen, now, width) ?? this.#samples.at(-1);
    if (this.#pointed !== null && shown) {
      const at = x(shown.time).toFixed(1);
      parts.push(shape("line", { class: "cursor", x1: at, x2: at, y1: TOP, y2: BASE }));
    }
    this.svg.replaceChildren(...parts);
    const texts = this.series.map(({ format }, number) => {
      const value = shown?.values[number];
      return value == null ? "\u2013" : format(value);
    });
    texts.forEach((text, number) => (this.values[number].textContent = text));
    const ago = shown ? Math.round((now - shown.time) / 1000) : 0;
    this.when.textContent = this.#pointed === null || !ago ? "" : `${ago} s ago`;
    const described = this.series.map(({ name }, number) => `${name} ${texts[number]}`);
    this.svg.setAttribute("aria-label", `${this.title}, the last ${minutes} minutes; now ${described.join(", ")}`);
  }

  #point(event) {
    this.#pointed = event.offsetX;
    this.draw();
  }

  #nearest(samples, now, width) {
    if (this.#pointed === null || !samples.length) return null;
    const time = now - (1 - this.#pointed / width) * this.span;
    return samples.reduce((best, each) => (Math.abs(each.time - time) < Math.abs(best.time - time) ? each : best));
  }
}

/** A series cut where values are missing or no sample was taken for some seconds. */
function unbroken(samples, number) {
  const lines = [];
  let before = -Infinity;
  for (const { time, values } of samples) {
    const value = values[number];
    if (value == null) {
      before = -Infinity;
      continue;
    }
    if (time - before > GAP) lines.push([]);
    lines.at(-1).push({ time, value });
    before = time;
  }
  return lines;
}

/** The least of 1, 2, 3, 4, 5, 6, 8, 10 times a power of ten that is not below a value: its half is short, too. */
function rounded(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 3, 4, 5, 6, 8, 10].find((digit) => digit * power >= value) * power;
}
