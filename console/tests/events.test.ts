import { expect, test } from "vitest";
import { EventReader } from "../src/live/events";

const TEXT =
  ': hello\n\nevent: ready\nid: a\ndata: {}\n\nevent: films.update\r\nid: b\r\ndata: {"n":\r\ndata: 1}\r\n\r\nid: c\rdata: x\r\r';

test("events are read whole wherever their bytes were cut", () => {
  const whole = new EventReader().read(`${TEXT}\n`);
  expect(whole.map((e) => [e.name, e.id, e.data])).toEqual([
    ["ready", "a", {}],
    ["films.update", "b", { n: 1 }],
    ["message", "c", "x"],
  ]);
  for (let size = 1; size < 12; size++) {
    const reader = new EventReader();
    const pieces = Array.from({ length: Math.ceil(TEXT.length / size) }, (_, n) =>
      TEXT.slice(n * size, (n + 1) * size),
    );
    expect([...pieces.flatMap((p) => reader.read(p)), ...reader.read("\n")]).toEqual(whole);
    expect(reader.last).toBe("c");
  }
});
