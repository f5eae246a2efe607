import Hls from "hls.js/light";
import type { Shown } from "../viewer";

export interface Film {
  /** A playlist that ends in .m3u8, or a single file. */
  url: string;
  title: string;
  poster?: string | null;
  /** Called once, when it is first played. */
  onplay?: () => void;
  onerror?: (why: string) => void;
}

/** A film with the browser's own controls; a stream is played by hls.js where the browser cannot. */
export function show(element: HTMLElement, film: Film): Shown {
  const video = document.createElement("video");
  video.controls = video.playsInline = true;
  video.preload = "metadata";
  video.setAttribute("aria-label", film.title);
  video.className = "p-film";
  if (film.poster) video.poster = film.poster;
  if (film.onplay) video.addEventListener("play", film.onplay, { once: true });
  element.replaceChildren(video);
  const hls = /\.m3u8(\?|$)/.test(film.url) && Hls.isSupported() ? stream(video, film) : null;
  if (!hls) video.src = film.url;
  return {
    close(): void {
      hls?.destroy();
      video.removeAttribute("src");
      video.load();
      video.remove();
    },
  };
}

function stream(video: HTMLVideoElement, film: Film): Hls {
  // Without a worker: the policy allows none that is made of text. One that is still encoded begins at its beginning too.
  const hls = new Hls({ enableWorker: false, startPosition: 0 });
  hls.on(Hls.Events.ERROR, (_, error) => {
    if (!error.fatal) return;
    if (error.type === Hls.ErrorTypes.MEDIA_ERROR) hls.recoverMediaError();
    else film.onerror?.(`The film cannot be played any further: ${error.details}.`);
  });
  hls.loadSource(film.url);
  hls.attachMedia(video);
  return hls;
}
