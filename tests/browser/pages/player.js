// Plays a film and tells what is really seen. Each function is called from Python, and none waits for ever.
import Hls from "../hls.js/hls.light.min.mjs";

const PATIENCE_MS = 60_000;
const SEEKS = 20;
const BITS = 10;

const film = document.querySelector("video");
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const errors = [];
// What hls.js says when nothing new was shown for a while, or when it gave something up itself: true of any stream on a
// busy machine.
const { BUFFER_STALLED_ERROR, BUFFER_NUDGE_ON_STALL, INTERNAL_ABORTED } = Hls.ErrorDetails;
const HARMLESS = [BUFFER_STALLED_ERROR, BUFFER_NUDGE_ON_STALL, INTERNAL_ABORTED];
let hls = null;

function state() {
  return {
    errors,
    level: hls ? hls.currentLevel : -1,
    time: film.currentTime,
    duration: film.duration,
    ended: film.ended,
    size: [film.videoWidth, film.videoHeight],
    ready: film.readyState,
    complaint: film.error && film.error.message,
  };
}

// Whatever is waited for ends in time, or as soon as nothing more can come.
const waiting = new Set();

function within(what, begin) {
  return new Promise((resolve, reject) => {
    const settle = (end) => (value) => {
      clearTimeout(timer);
      waiting.delete(fail);
      end(value);
    };
    const fail = settle((why) => reject(new Error(`${what}: ${why}; ${JSON.stringify(state())}`)));
    const timer = setTimeout(() => fail(`not within ${PATIENCE_MS / 1000} s`), PATIENCE_MS);
    waiting.add(fail);
    begin(settle(resolve));
  });
}

function broken(why) {
  for (const fail of [...waiting]) fail(why);
}

film.addEventListener("error", () => broken("the film cannot be played"));

function once(target, event, what = event) {
  return within(what, (resolve) => target.addEventListener(event, resolve, { once: true }));
}

// The number that is painted into a picture: a cell is white above and black below for 1, the other way round for 0.
function painted() {
  const [width, height] = [film.videoWidth, film.videoHeight];
  canvas.canvas.width = width;
  canvas.canvas.height = height;
  canvas.drawImage(film, 0, 0);
  const brightness = (x, y) => canvas.getImageData(Math.floor(x), Math.floor(y), 1, 1).data[1];
  let number = 0;
  for (let bit = 0; bit < BITS; bit++) {
    const x = ((bit + 0.5) * width) / BITS;
    const difference = brightness(x, height / 4) - brightness(x, (height * 3) / 4);
    if (Math.abs(difference) < 64) return null;
    number = number * 2 + (difference > 0 ? 1 : 0);
  }
  return number;
}

function seen(frame) {
  return { time: frame.mediaTime, width: frame.width, height: frame.height, painted: painted() };
}

// The next picture that is shown, or null if the film ends before.
function nextFrame(what) {
  return within(what, (resolve) => {
    film.requestVideoFrameCallback((_, frame) => resolve(frame));
    film.addEventListener("ended", () => resolve(null), { once: true });
  });
}

// Headers go to whoever gives out playlists, never along with a signed URL, which an object store would refuse.
function open(url, headers) {
  close();
  const xhrSetup = (request, asked) => {
    if (!new URL(asked, location).pathname.endsWith(".m3u8")) return;
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  };
  hls = new Hls({ enableWorker: false, xhrSetup });
  hls.on(Hls.Events.ERROR, (_, told) => {
    if (told.fatal || !HARMLESS.includes(told.details)) errors.push(told.details);
    if (told.fatal) broken(told.details);
  });
  return within("the list of levels", (resolve) => {
    const levels = () => hls.levels.map(({ width, height, bitrate }) => ({ width, height, bitrate }));
    hls.once(Hls.Events.MANIFEST_PARSED, () => resolve(levels()));
    hls.loadSource(url);
    hls.attachMedia(film);
  });
}

// Waits for what goes wrong with a stream.
async function untilError() {
  await within("an error", (resolve) => {
    const look = () => errors.length && resolve();
    hls.on(Hls.Events.ERROR, look); // after it was noted, for listeners are called in their order
    look();
  });
  return errors;
}

// Without hls.js: a single file, or a stream in a browser that knows streams by itself.
async function openFile(url) {
  close();
  film.crossOrigin = "anonymous";
  film.src = url;
  await once(film, "loadeddata");
}

function close() {
  hls?.destroy();
  hls = null;
  errors.length = 0;
  film.removeAttribute("src");
}

// Slowly, for a busy machine would leave out most pictures of a short film.
async function play(count) {
  const frames = [];
  film.playbackRate = 0.25;
  await film.play();
  while (frames.length < count) {
    const frame = await nextFrame(`picture ${frames.length}`);
    if (frame === null) break;
    frames.push(seen(frame));
  }
  film.pause();
  film.playbackRate = 1;
  return frames;
}

async function playToEnd() {
  const ended = once(film, "ended", "the end");
  await film.play();
  await ended;
}

// A callback may tell of a picture that was on its way before the seek, so it is asked again until it fits.
async function seek(number, rate) {
  film.pause();
  for (let tries = 0; tries < SEEKS; tries++) {
    const shown = nextFrame(`picture ${number}`);
    film.currentTime = (number + 0.5) / rate;
    const frame = await shown;
    if (frame !== null && Math.round(frame.mediaTime * rate) === number && !film.seeking) return seen(frame);
  }
  throw new Error(`picture ${number} was not shown; ${JSON.stringify(state())}`);
}

// Whoever stands still sees the former level until something new is shown, so the film goes on meanwhile, round and round.
async function switchTo(level) {
  const { width, height } = hls.levels[level];
  const last = performance.now() + PATIENCE_MS;
  hls.currentLevel = level;
  film.loop = true;
  await film.play();
  for (;;) {
    const frame = await nextFrame(`a picture of level ${level}`);
    if (frame?.width === width && frame.height === height && hls.currentLevel === level) {
      film.loop = false;
      film.pause();
      return seen(frame);
    }
    if (performance.now() > last) throw new Error(`level ${level} was not shown; ${JSON.stringify(state())}`);
  }
}

window.player = { close, open, openFile, play, playToEnd, seek, state, switchTo, untilError };
