// Settings of all chats: the system prompt and how tokens are sampled.

import { byId } from "./dom.js";
import { read, write } from "./store.js";

const NUMBERS = ["temperature", "top_p", "top_k", "max_tokens", "seed"];

export class Settings {
  constructor() {
    this.form = byId("settings-form");
    this.canThink = false;
    this.#fill(read("settings", {}));
    this.form.addEventListener("input", () => this.#keep());
    this.form.addEventListener("submit", (event) => event.preventDefault());
    byId("reset-settings").addEventListener("click", () => {
      this.#fill({});
      this.#keep();
    });
  }

  /** Whether each field has a value that it may have; the first that has not is focused by `report`. */
  get isValid() {
    return this.form.checkValidity();
  }

  /** The fields of a request that are set, and `system`. */
  get values() {
    const fields = this.form.elements;
    const values = {};
    for (const name of NUMBERS) {
      if (fields[name].value !== "" && fields[name].validity.valid) values[name] = fields[name].valueAsNumber;
    }
    if (this.canThink && fields.thinking.value) {
      values.chat_template_kwargs = { enable_thinking: fields.thinking.value === "on" };
    }
    values.system = fields.system.value.trim();
    return values;
  }

  /** Shows what a model does where a field is left empty. */
  describe(model) {
    const fields = this.form.elements;
    const sampling = model.sampling ?? {};
    fields.temperature.placeholder = sampling.temperature ?? 1;
    fields.top_p.placeholder = sampling.top_p ?? 1;
    fields.top_k.placeholder = sampling.top_k || "all";
    fields.max_tokens.placeholder = "all that fit";
    this.canThink = Boolean(model.can_switch_thinking);
    byId("thinking-row").hidden = !this.canThink;
  }

  #fill(values) {
    for (const name of [...NUMBERS, "system", "thinking"]) {
      this.form.elements[name].value = typeof values[name] === "string" ? values[name] : "";
    }
    this.#mark();
  }

  #keep() {
    const entries = [...NUMBERS, "system", "thinking"].map((name) => [name, this.form.elements[name].value]);
    const values = Object.fromEntries(entries.filter(([, value]) => value !== ""));
    write("settings", Object.keys(values).length ? values : null);
    this.#mark();
  }

  #mark() {
    for (const name of NUMBERS) {
      const field = this.form.elements[name];
      if (field.validity.valid) field.removeAttribute("aria-invalid");
      else field.setAttribute("aria-invalid", "true");
    }
  }
}
