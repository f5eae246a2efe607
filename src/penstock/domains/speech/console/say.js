// Type a sentence, choose a voice, hear it, and see when it will be forgotten.

const AT_ONCE = 1000;
const RECORDS = "/api/speech/audios";
const LOOKS_MS = 1000;
const FORMATS = [
  { value: "wav", title: "WAV, as it is kept" },
  { value: "mp3", title: "MP3" },
  { value: "ogg", title: "Ogg Opus" },
];

export function mount(element, context) {
  const { parts } = context;
  const { h } = parts;
  const now = h("section", {
    class: "panel stack",
    "aria-label": "What was said",
    hidden: true,
  });
  const earlier = h("ul", { class: "p-rows", "aria-label": "Said today" });
  const nothing = parts.empty("Nothing was said today.", "Type a text, and hear it.");
  nothing.hidden = true;
  const mine = [];
  let left = false;

  const form = parts.form({
    label: "Say something",
    action: "Speak",
    fields: [
      {
        name: "text",
        label: "Text",
        kind: "long",
        rows: 5,
        required: true,
        longest: 20000,
        placeholder: "The train to the mountains leaves at nine.",
        hint: `Plain, or SSML. Up to ${AT_ONCE.toLocaleString("en")} characters are spoken at once; a longer text is spoken by a worker.`,
      },
      {
        name: "voice_id",
        label: "Voice",
        kind: "choice",
        choices: [{ value: "", title: "The usual one" }],
      },
      {
        name: "format",
        label: "Format",
        kind: "choice",
        choices: FORMATS,
        value: context.address.get("format") ?? "wav",
      },
    ],
    run: speak,
  });

  element.append(
    h(
      "div",
      { class: "p-columns" },
      h(
        "div",
        { class: "panel stack" },
        form.element,
        h("p", { class: "soft small" }, "Sound and text are kept for 24 hours, and then they are gone."),
      ),
      h(
        "div",
        { class: "stack" },
        now,
        h(
          "section",
          { class: "panel stack", "aria-labelledby": "said-today" },
          h("h2", { id: "said-today" }, "Said today"),
          earlier,
          nothing,
        ),
      ),
    ),
  );

  context.get("/voices").then((voices) => {
    const sounds = { high: "like a person", medium: "", low: "like a machine" };
    const title = (voice) =>
      [`${voice.voice_id} (${voice.language})`, sounds[voice.quality], voice.usual ? "the usual one" : ""]
        .filter(Boolean)
        .join(", ");
    form.choices(
      "voice_id",
      voices.map((voice) => ({ value: voice.voice_id, title: title(voice) })),
    );
  }, context.fail);

  async function speak({ text, voice_id, format }) {
    const said = { text, voice_id: voice_id ?? null };
    const audio = text.length <= AT_ONCE ? await context.post("/public/tts/sync", said) : await spokenByWorker(said);
    const kept = format === "wav" ? null : format;
    if (audio)
      context.address.set({
        audio: `${audio.date}/${audio.audio_id}`,
        format: kept,
      });
  }

  async function spokenByWorker(said) {
    const meter = parts.meter("A worker speaks the text");
    now.hidden = false;
    now.replaceChildren(meter.element);
    let job = await context.post("/public/tts/jobs", said);
    while (!left && job.status !== "completed") {
      if (job.status === "failed") throw new Error(job.error_message ?? "The text could not be spoken.");
      meter.set(job.progress);
      await new Promise((resolve) => setTimeout(resolve, LOOKS_MS));
      job = await context.get(`/public/tts/jobs/${job.date}/${job.job_id}`);
    }
    return job.audio;
  }

  // What is heard is in the address, so that it can be sent to somebody for as long as it lives.
  async function show() {
    const chosen = context.address.get("audio");
    now.hidden = !chosen;
    if (!chosen || !/^[0-9-]+\/[0-9a-f-]+$/.test(chosen)) return now.replaceChildren();
    try {
      const audio = await context.get(`/public/tts/${chosen}`);
      now.replaceChildren(...heard(audio));
      if (!mine.some((each) => each.audio_id === audio.audio_id)) mine.unshift(audio);
      again();
    } catch (thrown) {
      now.replaceChildren(parts.trouble(thrown));
    }
  }

  function heard(audio) {
    const format = FORMATS.find((each) => each.value === context.address.get("format"))?.value ?? "wav";
    const url = format === "wav" ? audio.audio_url : `/public/sound/${audio.date}/${audio.audio_id}?format=${format}`;
    const player = h("audio", {
      controls: true,
      preload: "auto",
      "aria-label": "What was said",
    });
    player.src = url;
    const gone = h("p", { class: "small", role: "status" }, "Will be forgotten ", parts.when(audio.forgotten_at), ".");
    const about = [
      format.toUpperCase(),
      audio.voice_id,
      parts.length(audio.duration),
      format === "wav" ? parts.size(audio.file_size_bytes) : null,
    ]
      .filter(Boolean)
      .join(" · ");
    const missing = audio.left_out
      ? h("p", { class: "small" }, `Left out, as the voice cannot say it: ${[...audio.left_out].join(" ")}`)
      : "";
    return [
      h("h2", {}, "What was said"),
      player,
      missing,
      gone,
      h("p", { class: "row small soft" }, about, parts.link("Download", url, { download: `speech.${format}` })),
    ];
  }

  const showEarlier = parts.list(
    earlier,
    (audio) => audio.audio_id,
    (audio) => {
      const place = `${audio.date}/${audio.audio_id}`;
      const silent = audio.status === "failed" || audio.status === "expired";
      const about = silent
        ? `${audio.voice_id}: ${audio.error_message}`
        : `${audio.voice_id}, ${parts.length(audio.duration)}`;
      const hear = silent
        ? ""
        : parts.button("Hear it", () => context.address.set({ audio: place }), {
            label: `Hear it: ${about}`,
          });
      const gone = h("span", { class: "soft" }, "forgotten ", parts.when(audio.forgotten_at ?? audio.ttl));
      return {
        element: h("li", {}, h("span", { class: "wide" }, about), gone, hear),
        update() {},
      };
    },
  );

  // Texts are personal: only administrators see what others have had said; everybody sees their own of this visit.
  const again = parts.refreshed(async () => {
    let all = mine;
    if (context.may("admin")) {
      const date = new Date().toISOString().slice(0, 10);
      const page = await context.get(RECORDS, {
        pattern: "of_date",
        date,
        limit: 20,
      });
      all = [...page.items].sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
    }
    showEarlier(all);
    nothing.hidden = all.length > 0;
  }, context.fail);

  context.address.onChange(show);
  void show();
  context.onEvent((event) => {
    if (event.kind === "resync" || event.domain === context.domain) again();
  });
  context.offer(() => [
    {
      id: "say-text",
      title: "Type what is to be said",
      keys: "n",
      run: () => form.control("text").focus(),
    },
  ]);
  return () => {
    left = true;
  };
}
