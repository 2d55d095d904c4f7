// A job as it runs: events where the server gives them, its JSON every few seconds else.
"use strict";

const room = document.querySelector("[data-job]");
const bar = document.getElementById("job-progress");
const share = document.getElementById("job-share");
let shown = room.dataset.state;

const show = (job) => {
  if (job.state !== shown) {
    shown = job.state;
    location.reload(); // the receipt, and what can be done now, are the server's to write
    return;
  }
  const { done, total, step } = job.progress;
  if (total) {
    bar.max = total;
    bar.value = Math.min(done, total);
  }
  const count = done.toLocaleString("en") + (total ? " of " + total.toLocaleString("en") : "");
  share.textContent = (step ? step + ": " : "") + count;
};

const poll = async () => {
  try {
    const answer = await fetch(room.dataset.job + ".json", { cache: "no-store" });
    if (answer.ok) {
      show(await answer.json());
    }
  } finally {
    setTimeout(poll, 3000);
  }
};

if (window.EventSource) {
  const events = new EventSource(room.dataset.job + "/events");
  events.onmessage = (event) => show(JSON.parse(event.data));
  events.onerror = () => {
    if (events.readyState === EventSource.CLOSED) {
      poll(); // too many look on
    }
  };
  addEventListener("pagehide", () => events.close());
} else {
  poll();
}
