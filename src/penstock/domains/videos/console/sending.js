// Sends a file to where the service says, in parts where it is large; what has arrived is not sent again.
import { Sha256 } from "./sha256.js";

const API = "/api/vm";
const PIECE = 4_000_000;
const TRIES = 4;

/** Announce a file; what was announced tells where to send it. */
export function announce(context, file, said) {
  return context.post(`${API}/videos`, {
    ...said,
    file_name: file.name.slice(0, 200),
    size: file.size,
    content_type: file.type || "application/octet-stream",
  });
}

/** Send what is missing of a file, and say that it is there. `told` hears how much of it is on its way. */
export async function send(context, submission, file, told, signal) {
  let now = submission;
  let sent = 0;
  while (now.upload) {
    const { url, method, headers, parts } = now.upload;
    if (url) {
      await put(url, method, headers, file, signal, (bytes) => told(bytes / file.size, "sending"));
      break;
    }
    if (!parts.length) break;
    // What is missing is told a hundred parts at a time; all before the first of them has arrived.
    sent = Math.max(sent, parts[0].start);
    for (const part of parts) {
      const piece = file.slice(part.start, part.stop);
      await put(part.url, part.method, part.headers, piece, signal, (bytes) =>
        told((sent + bytes) / file.size, "sending"),
      );
      sent += piece.size;
      told(sent / file.size, "sending");
    }
    now = await context.get(`${API}/submissions/${now.video_id}`);
  }
  const sha256 = await digest(file, signal, (share) => told(share, "checking"));
  return context.post(`${API}/submissions/${submission.video_id}/complete`, {
    sha256,
  });
}

async function digest(file, signal, told) {
  const hash = new Sha256();
  for (let at = 0; at < file.size; at += PIECE) {
    signal.throwIfAborted();
    hash.update(new Uint8Array(await file.slice(at, at + PIECE).arrayBuffer()));
    told(Math.min(1, (at + PIECE) / file.size));
  }
  return hash.hex();
}

/** One part, tried again where the connection breaks; fetch tells nothing of how far it is. */
async function put(url, method, headers, body, signal, told) {
  for (let tried = 1; ; tried++) {
    try {
      return await once(url, method ?? "PUT", headers, body, signal, told);
    } catch (thrown) {
      if (signal.aborted || tried >= TRIES) throw thrown;
      await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** tried));
    }
  }
}

function once(url, method, headers, body, signal, told) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    signal.addEventListener("abort", stop, { once: true });
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => told(event.loaded);
    request.onloadend = () => {
      signal.removeEventListener("abort", stop);
      if (request.status >= 200 && request.status < 300) resolve();
      else if (signal.aborted) reject(new DOMException("Given up", "AbortError"));
      else
        reject(
          new Error(request.status ? `The store answered ${request.status}.` : "The connection to the store broke."),
        );
    };
    request.send(body);
  });
}
