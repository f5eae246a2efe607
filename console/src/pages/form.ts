import { problemOf } from "../api/problem";
import { toasts } from "../app/toasts.svelte";
import { h, type Child } from "./element";

export interface FieldOptions {
  name: string;
  label: string;
  kind?: "text" | "long" | "number" | "choice" | "truth" | "file";
  value?: string | number | boolean;
  choices?: (string | { value: string; title: string })[];
  required?: boolean;
  hint?: string;
  placeholder?: string;
  min?: number;
  max?: number;
  longest?: number;
  rows?: number;
  /** Which files, such as `audio/*`. */
  accept?: string;
}
export interface FormOptions {
  label: string;
  fields: FieldOptions[];
  /** What the button says: the verb. */
  action: string;
  /** Text by the names of fields; a truth is a boolean, a file a File, and what is left empty is left out. */
  run: (values: Record<string, unknown>) => unknown;
  /** Further buttons. */
  more?: Child[];
  kind?: "main" | "plain" | "danger";
  /** All in one line, where there is room. */
  inline?: boolean;
}
type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

let count = 0;

/** Fields with one action; what the service finds wrong is told at the field it is about. */
export class Form {
  readonly element: HTMLFormElement;
  readonly button: HTMLButtonElement;
  #controls = new Map<string, { control: Control; error: HTMLElement; field: HTMLElement }>();

  constructor(private readonly options: FormOptions) {
    this.button = h("button", { type: "submit", class: `button ${options.kind ?? "main"}` }, options.action);
    this.element = h(
      "form",
      { class: `p-form ${options.inline ? "p-inline" : "stack"}`, "aria-label": options.label },
      ...options.fields.map((field) => this.#field(field)),
      h("div", { class: "row" }, this.button, ...(options.more ?? [])),
    );
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.submit();
    });
  }

  control(name: string): Control {
    const found = this.#controls.get(name);
    if (!found) throw new Error(`There is no field ${name}.`);
    return found.control;
  }

  /** Show a field, or not: one that is not shown is not sent. */
  show(name: string, shown: boolean): void {
    const found = this.#controls.get(name);
    if (!found) return;
    found.field.hidden = !shown;
    found.control.disabled = !shown;
  }

  /** Offer other choices; the chosen one stays if it is among them. */
  choices(name: string, all: FieldOptions["choices"] = []): void {
    const control = this.control(name);
    const before = control.value;
    control.replaceChildren(...options(all));
    if ([...control.querySelectorAll("option")].some((o) => o.value === before)) control.value = before;
  }

  get values(): Record<string, unknown> {
    const found = [...this.#controls].filter(([, { control }]) => !control.disabled);
    return Object.fromEntries(
      found.map(([name, { control }]) => [name, valueOf(control)]).filter(([, v]) => v !== undefined),
    );
  }

  async submit(): Promise<void> {
    if (this.button.disabled || !this.element.reportValidity()) return;
    for (const { control, error } of this.#controls.values()) tell(control, error, "");
    this.button.disabled = true;
    this.button.setAttribute("aria-busy", "true");
    try {
      await this.options.run(this.values);
    } catch (thrown) {
      this.#failed(thrown);
    } finally {
      this.button.disabled = false;
      this.button.removeAttribute("aria-busy");
    }
  }

  #failed(thrown: unknown): void {
    const told = Object.entries(problemOf(thrown).byField).filter(([name]) => this.#controls.has(name));
    for (const [name, message] of told) {
      const found = this.#controls.get(name);
      if (found) tell(found.control, found.error, message);
    }
    if (told[0]) this.control(told[0][0]).focus();
    else toasts.fail(thrown);
  }

  #field(field: FieldOptions): HTMLElement {
    const id = `page-field-${++count}`;
    const control = made(field, id);
    const error = h("p", { class: "error small", id: `${id}-error`, hidden: true });
    const hint = field.hint ? h("p", { class: "soft small", id: `${id}-hint` }, field.hint) : null;
    control.setAttribute("aria-describedby", [hint && `${id}-hint`, `${id}-error`].filter(Boolean).join(" "));
    const label = h("label", { for: id }, field.label);
    const parts = field.kind === "truth" ? [control, label] : [label, control];
    const element = h("div", { class: `p-field ${field.kind ?? "text"}` }, ...parts, hint, error);
    this.#controls.set(field.name, { control, error, field: element });
    return element;
  }
}

function made(field: FieldOptions, id: string): Control {
  const { required, placeholder, min, max, longest: maxlength } = field;
  const shared = { id, name: field.name, required, placeholder, autocomplete: "off" };
  if (field.kind === "choice") {
    const select = h("select", { id, name: field.name, required }, ...options(field.choices));
    if (field.value !== undefined) select.value = String(field.value);
    return select;
  }
  if (field.kind === "long") {
    const area = h("textarea", { ...shared, maxlength, rows: field.rows ?? 3 });
    area.value = String(field.value ?? "");
    return area;
  }
  const type = { number: "number", truth: "checkbox", file: "file" }[field.kind as string] ?? "text";
  const input = h("input", { ...shared, type, min, max, maxlength, accept: field.accept });
  if (field.kind === "truth") input.checked = field.value === true;
  else if (field.kind !== "file") input.value = String(field.value ?? "");
  return input;
}

const options = (choices: FieldOptions["choices"] = []): HTMLOptionElement[] =>
  choices
    .map((c) => (typeof c === "string" ? { value: c, title: c } : c))
    .map(({ value, title }) => h("option", { value }, title));

function valueOf(control: Control): unknown {
  if (control instanceof HTMLInputElement && control.type === "checkbox") return control.checked;
  if (control instanceof HTMLInputElement && control.type === "file") return control.files?.[0];
  const text = control.value.trim();
  if (text === "") return undefined;
  return control instanceof HTMLInputElement && control.type === "number" ? Number(text) : text;
}

function tell(control: Control, error: HTMLElement, message: string): void {
  error.textContent = message;
  error.hidden = !message;
  if (message) control.setAttribute("aria-invalid", "true");
  else control.removeAttribute("aria-invalid");
}
