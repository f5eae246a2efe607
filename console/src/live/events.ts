/** One event of the service's stream. */
export interface LiveEvent {
  /** Such as `films.update`; `ready` begins a stream. */
  name: string;
  id: string;
  data: unknown;
}

/** Reads server-sent events as they come in: lines may be cut anywhere, and end in any of three ways. */
export class EventReader {
  #rest = "";
  #event: { name: string; id: string; data: string[] } = { name: "message", id: "", data: [] };
  /** The id of the last event that was whole. */
  last = "";

  read(text: string): LiveEvent[] {
    const whole = this.#rest + text;
    // A carriage return at the very end may be half of a line's end.
    const upTo = whole.endsWith("\r") ? whole.length - 1 : whole.length;
    const lines = whole.slice(0, upTo).split(/\r\n|\n|\r/);
    this.#rest = (lines.pop() ?? "") + whole.slice(upTo);
    return lines.map((line) => this.#line(line)).filter((event) => event !== null);
  }

  #line(line: string): LiveEvent | null {
    if (line === "") return this.#end();
    if (line.startsWith(":")) return null;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#event.name = value;
    else if (field === "data") this.#event.data.push(value);
    else if (field === "id" && !value.includes("\0")) this.#event.id = value;
    return null;
  }

  #end(): LiveEvent | null {
    const { name, id, data } = this.#event;
    this.#event = { name: "message", id: "", data: [] };
    if (id) this.last = id;
    return data.length ? { name, id, data: parsed(data.join("\n")) } : null;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
