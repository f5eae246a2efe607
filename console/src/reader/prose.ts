/** What descriptions are written with: paragraphs, lists and code. Nothing of it ever becomes markup. */
export interface Block {
  list: boolean;
  lines: string[];
}
export interface Span {
  text: string;
  code: boolean;
}

export function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let open = false;
  for (const line of text.split("\n").map((l) => l.trim())) {
    const last = blocks.at(-1);
    const item = /^[-*] +(.*)$/.exec(line)?.[1];
    if (!line) open = false;
    else if (item !== undefined) {
      if (last?.list) last.lines.push(item);
      else blocks.push({ list: true, lines: [item] });
      open = true;
    } else if (open && last) last.lines.push(`${last.lines.pop() ?? ""} ${line}`);
    else {
      blocks.push({ list: false, lines: [line] });
      open = true;
    }
  }
  return blocks;
}

export const spansOf = (line: string): Span[] =>
  line
    .split(/`([^`]*)`/)
    .map((text, n) => ({ text, code: n % 2 === 1 }))
    .filter(({ text }) => text !== "");
