const LONGEST = 16;

/** An id as people tell it from others: its kind, its beginning and its end. The whole of it is never far. */
export function shortId(text: string): string {
  // A record's name, such as `Film(project_id=p1, title=Robot)`: the last part of its key tells it from others.
  const named = /^(?:\w+\.)?(\w+)\((.*)\)$/.exec(text);
  if (named)
    return `${named[1]} ${shortId(
      named[2]
        ?.split(/, \w+=/)
        .at(-1)
        ?.replace(/^\w+=/, "") ?? "",
    )}`;
  if (text.length <= LONGEST || /[\s/]/.test(text)) return text;
  return `${text.slice(0, 6)}…${text.slice(-6)}`;
}
