/** A colour of the theme, as a canvas takes it: tokens are words that only a style can read. */
export function colourOf(host: Element, token: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${token})`;
  host.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}
