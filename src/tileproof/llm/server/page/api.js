// Requests to the server, whose paths are relative: a proxy may serve the page below a path of its own.

import { apiKey } from "./store.js";

/** What went wrong with a request. The status is 0 where there was no answer, or it broke off. */
export class ApiError extends Error {
  constructor(message, status = 0, code = null, retryAfter = null) {
    super(message);
    Object.assign(this, { status, code, retryAfter });
  }

  /** Whether the same request may succeed a little later. */
  get isTemporary() {
    return this.status === 429 || this.status === 503;
  }
}

/** Sends a request, a POST if it has a body, and returns the answer, or throws `ApiError`. */
export async function request(path, { body, signal } = {}) {
  const headers = {};
  if (apiKey.value) headers.Authorization = `Bearer ${apiKey.value}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const options = { method: body === undefined ? "GET" : "POST", headers, signal, cache: "no-store" };
  if (body !== undefined) options.body = JSON.stringify(body);
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError("the server cannot be reached");
  }
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => null);
  const message = told?.error?.message ?? `the server returned ${answer.status} ${answer.statusText}`;
  const wait = Number.parseFloat(answer.headers.get("Retry-After"));
  throw new ApiError(message, answer.status, told?.error?.code ?? null, Number.isFinite(wait) ? wait : null);
}

/** The events of a chat's answer as they come. */
export async function* chatEvents(body, signal) {
  const answer = await request("v1/chat/completions", { body, signal });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let pending = "";
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error) => {
        if (signal.aborted) throw error;
        throw new ApiError("the connection broke off in the middle of the answer");
      });
      if (done) throw new ApiError("the connection broke off in the middle of the answer");
      const events = (pending + value).split("\n\n");
      pending = events.pop();
      for (const event of events) {
        const data = event.replace(/^data: /, "");
        if (data === "[DONE]") return;
        const decoded = JSON.parse(data);
        if (decoded.error) throw new ApiError(decoded.error.message, answer.status, decoded.error.code);
        yield decoded;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
