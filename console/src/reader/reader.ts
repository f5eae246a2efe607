import SwaggerUI, { type Component, type SentRequest, type System } from "swagger-ui-dist/swagger-ui-es-bundle.js";
import type { ApiDocument, Operation } from "./document";
import { blocksOf, spansOf } from "./prose";
import "./reader.css";

/** As whom requests are sent: by a key, or by the session with its token. Neither is kept anywhere. */
export interface Sender {
  key: () => string;
  csrf: () => string | null;
}

interface FormProps {
  description?: unknown;
  schema?: { get?: (name: string) => unknown };
}

type Paths = Record<string, Record<string, unknown>>;
interface LookedUp {
  paths?: Paths;
}
type Update = (path: string[], all: LookedUp) => void;

const READING = new Set(["GET", "HEAD"]);
const nothing = (): Component => () => null;

/** Swagger UI, which shows one operation at a time: its form, what it answers, and what came back. */
export class Reader {
  readonly #system: System;
  #shown: Operation | undefined;

  constructor(
    private readonly element: HTMLElement,
    sender: Sender,
  ) {
    element.addEventListener("click", (event) => (event.target as Element).matches(".execute") && lead(element));
    this.#system = SwaggerUI({
      domNode: element,
      layout: "OneOperation",
      plugins: [(system: System) => this.#plugin(system, sender)],
      docExpansion: "full",
      tryItOutEnabled: true,
      displayRequestDuration: true,
      showMutatedRequest: false, // what is shown and copied has no token and no key
      persistAuthorization: false,
      syntaxHighlight: false,
      validatorUrl: null,
      requestInterceptor: (request: SentRequest) => signed(request, sender),
    });
  }

  /** Send what the form says, wherever the cursor stands: a field that is left tells what was typed. */
  send(): void {
    const button = this.element.querySelector<HTMLElement>(".execute");
    button?.focus();
    setTimeout(() => button?.click());
  }

  show(document: ApiDocument, operation: Operation): void {
    this.#shown = operation;
    this.#system.specActions.updateJsonSpec(document);
  }

  #plugin(system: System, sender: Sender): object {
    const h = system.React.createElement;
    const listName = system.React.createContext(null);
    return {
      components: { OneOperation: () => h(system.getComponent("operations", true)) },
      wrapComponents: {
        OperationTag: () => (props: { children: unknown }) => props.children,
        // The frame has these, or they are of no use here.
        OperationSummary: nothing,
        TryItOutButton: nothing,
        OperationServers: nothing,
        // The one place where it would make markup of text.
        Markdown: () => (props: { source?: unknown }) => written(h, String(props.source ?? "")),
        // Fields have no names there, only words beside them.
        TextArea: (Original: unknown) => (props: object) => h(Original, { "aria-label": "Request body", ...props }),
        Input: (Original: unknown) => (props: object) => {
          const name = system.React.useContext(listName);
          return h(Original, name ? { "aria-label": name, ...props } : props);
        },
        JsonSchemaForm: (Original: unknown) => (props: FormProps) => {
          const field = h(Original, props);
          if (props.schema?.get?.("type") === "array") return h(listName.Provider, { value: props.description }, field);
          return h("label", null, h("span", { className: "hidden-from-sight" }, props.description), field);
        },
        // What scrolls must be reached by keys.
        SyntaxHighlighter: (Original: unknown) => (props: object) =>
          h("div", { className: "scrolled", tabIndex: 0, role: "group", "aria-label": "Text" }, h(Original, props)),
        // Nothing is sent but what was filled in, unless somebody asks for it.
        ParameterIncludeEmpty: (Original: unknown) => (props: object) =>
          h(Original, { ...props, isIncludedOptions: { shouldDispatchInit: false, defaultValue: false } }),
        curl: (Original: unknown) => (props: { request: { set: (name: string, value: unknown) => unknown } }) =>
          h(Original, { ...props, request: props.request.set("curlOptions", system.Im.List(keyed(sender))) }),
      },
      statePlugins: {
        spec: {
          wrapSelectors: { allowTryItOutFor: () => () => !this.#shown?.streams },
          // What is looked up for an operation that has gone meanwhile would stand there as a second one.
          wrapActions: {
            updateResolvedSubtree: (update: Update) => (path: string[], all: LookedUp) =>
              update(path, { ...all, paths: this.#only(all.paths) }),
          },
        },
      },
    };
  }

  #only(paths: Paths = {}): Paths {
    const { path = "", method = "" } = this.#shown ?? {};
    const found = paths[path]?.[method.toLowerCase()];
    return found ? { [path]: { [method.toLowerCase()]: found } } : {};
  }
}

/** The same as every line of the console that can be copied. */
const keyed = (sender: Sender): string[] => (sender.key() || sender.csrf() ? ["-H", "@.penstock/key"] : []);

/** Whoever sends what does not fit is led to the first field of it; the reader marks them a moment later. */
function lead(element: HTMLElement): void {
  const marks = new MutationObserver(() => {
    const wrong = element.querySelector<HTMLElement>(".invalid");
    if (!wrong) return;
    wrong.focus();
    marks.disconnect();
  });
  marks.observe(element, { subtree: true, attributeFilter: ["class"] });
  setTimeout(() => marks.disconnect(), 1000);
}

function signed(request: SentRequest, sender: Sender): SentRequest {
  const key = sender.key();
  // By a key alone: what the session may is not to be seen in the answer.
  request.credentials = key ? "omit" : "same-origin";
  if (key) request.headers.Authorization = `Bearer ${key}`;
  const csrf = sender.csrf();
  if (!key && csrf && !READING.has(request.method.toUpperCase())) request.headers["X-CSRF-Token"] = csrf;
  return request;
}

function written(h: System["React"]["createElement"], source: string): unknown {
  const words = (line: string): unknown[] =>
    spansOf(line).map(({ text, code }, n) => (code ? h("code", { key: n }, text) : text));
  const blocks = blocksOf(source).map(({ list, lines }, n) =>
    list
      ? h("ul", { key: n }, ...lines.map((line, at) => h("li", { key: at }, ...words(line))))
      : h("p", { key: n }, ...words(lines.join(" "))),
  );
  return h("div", { className: "markdown" }, ...blocks);
}
