// Jobs as they run: events where the server gives them, JSON every few seconds otherwise.
"use strict";

const LIVE = "[data-live]";
const ACTIVE = ["queued", "running"];
const LONGEST = 30000;
let events = null;
let isPolling = false;
// Milliseconds before the server is asked again after the page was written anew in vain, as when it
// answers 500; twice as long each time.
let pause = 0;

// A list of batch edits has rows only for the jobs that work on one now.
const concerns = (job) => {
  const kinds = document.querySelector(LIVE)?.dataset.kinds;
  return !kinds || (kinds.split(" ").includes(job.kind) && ACTIVE.includes(job.state));
};

const rowOf = (job) => document.querySelector(`[data-job="${CSS.escape(job.job)}"]`);

// What has to be written anew is the server's to write: receipts, buttons, lists.
const renew = async () => {
  const text = await askPage(location.href, { cache: "no-store" });
  if (!text) {
    return;
  }
  const fresh = new DOMParser().parseFromString(text, "text/html");
  const focused = document.activeElement && document.activeElement.id;
  document.querySelector("main").replaceChildren(...fresh.querySelector("main").childNodes);
  if (focused && document.getElementById(focused)) {
    document.getElementById(focused).focus();
  }
};

// Whether the page shows what it is told.
const show = (job) => {
  const row = rowOf(job);
  if (!row || row.dataset.state !== job.outcome.word) {
    return false;
  }
  const { done, total } = job.progress;
  const bar = row.querySelector("progress");
  if (bar && total) {
    bar.max = total;
    bar.value = Math.min(done, total);
  }
  const share = row.querySelector(".share");
  if (share) {
    share.textContent = job.share;
  }
  return true;
};

const told = async (found) => {
  const rows = [...document.querySelectorAll("[data-job]")];
  const oldest = rows.map((row) => row.dataset.job).sort()[0] || "";
  const jobs = (found.jobs || [found]).filter((job) => job.job >= oldest && concerns(job));
  const gone = rows.some(
    (row) => "active" in row.dataset && !jobs.some((job) => job.job === row.dataset.job),
  );
  if (jobs.map(show).every(Boolean) && !gone) {
    pause = 0;
    return;
  }
  if (events) {
    events.close();
  }
  await renew();
  setTimeout(watch, pause);
  pause = Math.min(2 * pause || 1000, LONGEST);
};

// What stands on the page while the server does not answer may be old.
const lost = (isLost) => {
  const room = document.querySelector(LIVE);
  const note = document.querySelector("[data-offline]");
  if (note) {
    note.hidden = !isLost;
  } else if (isLost && room) {
    const said = document.createElement("p");
    said.className = "note fault";
    said.setAttribute("role", "alert");
    said.dataset.offline = "";
    said.textContent = room.dataset.lost;
    room.before(said);
  }
};

const poll = async () => {
  const room = document.querySelector(LIVE);
  isPolling = room !== null;
  if (!isPolling) {
    return;
  }
  const asked = await askJson(room.dataset.twin, { cache: "no-store" });
  lost(!asked.told);
  if (asked.answered) {
    await told(asked.told);
  }
  setTimeout(poll, 3000);
};

const watch = () => {
  const room = document.querySelector(LIVE);
  if (!room) {
    return;
  }
  if (events) {
    events.close();
  }
  events = new EventSource(room.dataset.live);
  events.onopen = () => lost(false);
  events.onmessage = (event) => told(JSON.parse(event.data));
  events.onerror = () => {
    // A stream that ends is opened again; ask whether the server is there at all.
    fetch(room.dataset.twin, { cache: "no-store" }).then(() => lost(false), () => lost(true));
    if (events.readyState === EventSource.CLOSED && !isPolling) {
      poll(); // too many look on
    }
  };
};

addEventListener("pagehide", () => events && events.close());
watch();
