// SHA-256 of what comes piece by piece: the browser's own wants all of a file in memory at once.

const K = new Uint32Array(64);
const START = new Uint32Array(8);

// The first bits of the roots of the first primes.
for (let number = 2, found = 0; found < 64; number++) {
  let prime = true;
  for (let factor = 2; factor * factor <= number; factor++) if (number % factor === 0) prime = false;
  if (!prime) continue;
  const bits = (root) => ((root - Math.floor(root)) * 2 ** 32) >>> 0;
  if (found < 8) START[found] = bits(Math.sqrt(number));
  K[found++] = bits(Math.cbrt(number));
}

export class Sha256 {
  #state = START.slice();
  #words = new Uint32Array(64);
  #block = new Uint8Array(64);
  #filled = 0;
  #bytes = 0;

  update(data) {
    this.#bytes += data.length;
    let at = 0;
    if (this.#filled) {
      const taken = data.subarray(0, 64 - this.#filled);
      this.#block.set(taken, this.#filled);
      this.#filled += taken.length;
      at = taken.length;
      if (this.#filled < 64) return this;
      this.#take(this.#block, 0);
      this.#filled = 0;
    }
    for (; at + 64 <= data.length; at += 64) this.#take(data, at);
    this.#block.set(data.subarray(at));
    this.#filled = data.length - at;
    return this;
  }

  hex() {
    const bits = this.#bytes * 8;
    const end = new Uint8Array((this.#filled < 56 ? 56 : 120) - this.#filled + 8);
    end[0] = 0x80;
    const view = new DataView(end.buffer);
    view.setUint32(end.length - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(end.length - 4, bits >>> 0);
    this.update(end);
    return [...this.#state].map((word) => word.toString(16).padStart(8, "0")).join("");
  }

  #take(data, at) {
    const words = this.#words;
    for (let n = 0, place = at; n < 16; n++, place += 4) {
      words[n] = (data[place] << 24) | (data[place + 1] << 16) | (data[place + 2] << 8) | data[place + 3];
    }
    for (let n = 16; n < 64; n++) {
      const [x, y] = [words[n - 15], words[n - 2]];
      const small = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const large = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      words[n] = words[n - 16] + small + words[n - 7] + large;
    }
    let [a, b, c, d, e, f, g, h] = this.#state;
    for (let n = 0; n < 64; n++) {
      const mixed = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const first = (h + mixed + ((e & f) ^ (~e & g)) + K[n] + words[n]) | 0;
      const turned = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const second = (turned + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    const next = [a, b, c, d, e, f, g, h];
    for (let n = 0; n < 8; n++) this.#state[n] += next[n];
  }
}
