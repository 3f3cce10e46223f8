// The engine at work: what /metrics reports, read each second, and its changes over the last minutes.

import { request } from "./api.js";
import { TimeChart } from "./charts.js";
import { byId, element } from "./dom.js";

const INTERVAL = 1000;
const TIMEOUT = 5000;
const SPANS = [1, 2, 5].map((minutes) => minutes * 60000); // the charts widen as there is more to show
const PROBES = ["/health", "/ping"]; // 503 there is no error: they say that the model is being loaded
const TREND = 30000; // shares and quantiles are of so much time, as those of a single second say little

/** The metrics of a page of Prometheus': a map from a name without its prefix to entries of labels and value. */
export function parsed(text) {
  const metrics = new Map();
  for (const line of text.split("\n")) {
    if (!line || line[0] === "#") continue;
    const split = line.lastIndexOf(" ");
    const brace = line.indexOf("{");
    const name = line.slice(0, brace < 0 ? split : brace).replace(/^[^:]*:/, "");
    const labels = {};
    if (brace >= 0) {
      for (const [, key, value] of line.slice(brace, split).matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[key] = value;
    }
    if (!metrics.has(name)) metrics.set(name, []);
    metrics.get(name).push({ labels, value: Number(line.slice(split + 1)) });
  }
  return metrics;
}

/** The sum of a metric over its labels, or null where there is none. */
function sum(metrics, name) {
  const entries = metrics.get(name);
  return entries ? entries.reduce((total, { value }) => total + value, 0) : null;
}

/** A quantile of what a histogram has counted between two readings, or null if that is nothing. */
export function quantile(share, now, before, name) {
  const counts = (metrics) => (metrics?.get(`${name}_bucket`) ?? []).map(({ value }) => value);
  const [later, earlier] = [counts(now), counts(before)];
  const bounds = (now.get(`${name}_bucket`) ?? []).map(({ labels }) => Number(labels.le.replace("+Inf", "Infinity")));
  const grown = later.map((count, number) => count - (earlier[number] ?? 0));
  const wanted = (grown.at(-1) ?? 0) * share;
  if (!wanted) return null;
  const number = grown.findIndex((count) => count >= wanted);
  const [low, below] = number ? [bounds[number - 1], grown[number - 1]] : [0, 0];
  if (!Number.isFinite(bounds[number])) return low;
  return low + ((bounds[number] - low) * (wanted - below)) / (grown[number] - below);
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = (value) => (value && value < 10 ? value.toFixed(1) : whole.format(value));
const exact = (value) => whole.format(value);
const axis = (value) => (value >= 10000 ? `${whole.format(value / 1000)}k` : value < 10 ? String(+value.toFixed(3)) : whole.format(value));
const percent = (value) => `${(100 * value).toFixed(value && value < 0.1 ? 1 : 0)} %`;
const seconds = (value) => {
  if (value < 0.01) return `${(1000 * value).toFixed(1)} ms`;
  return value < 1 ? `${(1000 * value).toFixed(0)} ms` : `${value.toFixed(value < 10 ? 2 : 0)} s`;
};
const duration = (value) => {
  const [days, hours, minutes] = [Math.floor(value / 86400), Math.floor(value / 3600) % 24, Math.floor(value / 60) % 60];
  if (days) return `${days} d ${hours} h`;
  return hours ? `${hours} h ${minutes} min` : minutes ? `${minutes} min` : `${Math.floor(value)} s`;
};

const CHARTS = [
  {
    title: "Generation", note: "Tokens generated per second", least: 10, axis,
    series: [{ name: "tok/s", kind: "main", format: short }],
  },
  {
    title: "Prefill", note: "Prompt tokens computed per second", least: 10, axis,
    series: [{ name: "tok/s", kind: "main", format: short }],
  },
  {
    title: "Requests", note: "Sequences in the batch, and in the queue", least: 4, axis,
    series: [{ name: "running", kind: "main", format: exact }, { name: "waiting", kind: "second", format: exact }],
  },
  {
    title: "Latency", note: "Medians over 30 s", least: 0.1, axis: seconds,
    series: [{ name: "first", kind: "main", format: seconds }, { name: "between", kind: "second", format: seconds }],
  },
  {
    title: "KV cache", note: "Share of the pages in use", least: 1, most: 1, axis: percent,
    series: [{ name: "in use", kind: "main", format: percent }],
  },
  {
    title: "Prefix cache", note: "Share of prompt tokens found, over 30 s", least: 1, most: 1, axis: percent,
    series: [{ name: "hits", kind: "main", format: percent }],
  },
]; // prettier-ignore

export class Engine {
  #history = []; // { time, metrics }
  #rows = []; // what the charts show: { time, values: [[...] for each chart] }
  #timer = null;

  /** `host` has `reached()`, `lost()` and `askForKey(why)`. */
  constructor(host) {
    this.host = host;
    this.charts = CHARTS.map((chart) => new TimeChart(chart));
    byId("cards").replaceChildren(...this.charts.map((chart) => chart.node));
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.#timer !== null) this.#poll();
    });
  }

  /** Begins to read metrics. It goes on until the page is closed, so that the charts have no holes. */
  start() {
    if (this.#timer === null) this.#poll();
  }

  async #poll() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (document.hidden) return; // becoming visible polls again
    const began = performance.now();
    try {
      const answer = await request("metrics", { signal: AbortSignal.timeout(TIMEOUT) });
      this.#take(parsed(await answer.text()));
      this.#report("");
      this.host.reached();
    } catch (error) {
      if (error.status === 401) {
        this.#report("This server requires an API key.");
        await this.host.askForKey(error.message);
      } else {
        this.#report(`${error.status ? error.message : "The server cannot be reached"}. The charts go on when it is back.`);
        if (!error.status) this.host.lost();
      }
    }
    this.#timer = setTimeout(() => this.#poll(), Math.max(INTERVAL - (performance.now() - began), 100));
  }

  #report(text) {
    const notice = byId("engine-notice");
    notice.hidden = !text;
    if (notice.textContent !== text) notice.textContent = text;
  }

  #take(metrics) {
    const time = Date.now();
    const before = this.#history.at(-1);
    const started = sum(metrics, "process_start_time_seconds");
    if (before && started !== sum(before.metrics, "process_start_time_seconds")) this.#history = []; // a new server
    this.#history.push({ time, metrics });
    this.#history = this.#history.filter((each) => each.time > time - TREND - 2 * INTERVAL);
    const last = this.#history.at(-2);
    const trend = this.#history.find((each) => each.time >= time - TREND - INTERVAL);
    const growth = (name, since) => {
      const [now, then] = [sum(metrics, name), since ? sum(since.metrics, name) : null];
      return now === null || then === null ? null : now - then;
    };
    const rate = (name) => {
      const grown = growth(name, last);
      return grown === null || time - last.time > 4 * INTERVAL ? null : (1000 * grown) / (time - last.time);
    };
    const queries = growth("prefix_cache_queries_total", trend);
    this.#rows.push({
      time,
      values: [
        [rate("generation_tokens_total")],
        [rate("prompt_tokens_total")],
        [sum(metrics, "num_requests_running"), sum(metrics, "num_requests_waiting")],
        [
          quantile(0.5, metrics, trend.metrics, "time_to_first_token_seconds"),
          quantile(0.5, metrics, trend.metrics, "inter_token_latency_seconds"),
        ],
        [sum(metrics, "kv_cache_usage_perc")],
        [queries ? growth("prefix_cache_hits_total", trend) / queries : null],
      ],
    });
    this.#rows = this.#rows.filter((row) => row.time > time - SPANS.at(-1) - INTERVAL);
    const span = SPANS.find((each) => each >= time - this.#rows[0].time) ?? SPANS.at(-1);
    this.charts.forEach((chart, number) => {
      chart.show(this.#rows.map((row) => ({ time: row.time, values: row.values[number] })), span);
    });
    this.#showTotals(metrics);
  }

  #showTotals(metrics) {
    const total = (name) => sum(metrics, name) ?? 0;
    const finished = (reason) => {
      const entries = metrics.get("request_success_total") ?? [];
      return entries.filter(({ labels }) => labels.finished_reason === reason).reduce((count, { value }) => count + value, 0);
    };
    const rejected = (metrics.get("http_requests_total") ?? [])
      .filter(({ labels }) => labels.status >= "400" && !PROBES.includes(labels.handler))
      .reduce((count, { value }) => count + value, 0);
    const queries = total("prefix_cache_queries_total");
    const latency = (name) => {
      const [middle, late] = [0.5, 0.99].map((share) => quantile(share, metrics, null, name));
      return middle === null ? "\u2013" : `${seconds(middle)}, ${seconds(late)}`;
    };
    const rows = [
      ["Uptime", duration(Date.now() / 1000 - total("process_start_time_seconds"))],
      ["Finished by the model", exact(finished("stop"))],
      ["Finished at the limit", exact(finished("length"))],
      ["Cancelled", exact(finished("abort"))],
      ["HTTP errors", exact(rejected)],
      ["Tokens generated", exact(total("generation_tokens_total"))],
      ["Prompt tokens computed", exact(total("prompt_tokens_total"))],
      ["Prefix cache hits", queries ? percent(total("prefix_cache_hits_total") / queries) : "\u2013"],
      ["Preemptions", exact(total("num_preemptions_total"))],
      ["Steps", exact(total("engine_steps_total"))],
      ["First token, p50, p99", latency("time_to_first_token_seconds")],
      ["Between tokens, p50, p99", latency("inter_token_latency_seconds")],
      ["Whole request, p50, p99", latency("e2e_request_latency_seconds")],
      ["Memory", `${(total("process_resident_memory_bytes") / 2 ** 20).toFixed(0)} MiB`],
    ];
    const list = byId("totals");
    if (list.childElementCount === rows.length) {
      rows.forEach(([, value], number) => (list.children[number].lastChild.textContent = value));
      return;
    }
    list.replaceChildren(...rows.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
  }
}
