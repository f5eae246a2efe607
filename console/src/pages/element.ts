export type Child = Node | string | number | null | undefined | false;
type Given = string | number | boolean | null | undefined | ((event: never) => unknown);

/** An element with its attributes, listeners (`onclick`) and children; text stays text. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  given: Record<string, Given> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((c) => c !== null && c !== undefined && c !== false).map(asNode));
  return element;
}

const asNode = (child: Child): Node | string => (child instanceof Node ? child : String(child));
