// What JavaScript adds where records are curated; every page works without it.
"use strict";

// Type-ahead: the values other records have, while one types.
for (const input of document.querySelectorAll("input[data-values]")) {
  const list = document.getElementById(input.getAttribute("list"));
  let waiting = 0;
  let asked = 0;

  const look = async () => {
    const number = ++asked;
    const match = input.value.trim();
    if (match.length < 2) {
      return;
    }
    const url = new URL(input.dataset.values, location.href);
    url.pathname += ".json";
    url.searchParams.set("match", match);
    const answer = await fetch(url, { headers: { Accept: "application/json" } });
    if (!answer.ok || number !== asked) {
      return;
    }
    const options = (await answer.json()).values.slice(0, 20).map((one) => {
      const option = document.createElement("option");
      option.value = one.value;
      return option;
    });
    list.replaceChildren(...options);
  };

  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, 200);
  });
}

// What was edited and not saved is not left without a question.
for (const form of document.querySelectorAll("form[data-unsaved]")) {
  const values = () => new URLSearchParams(new FormData(form)).toString();
  const before = values();
  let isSent = false;
  const leave = () => {
    isSent = true;
  };
  form.addEventListener("submit", leave);
  form.querySelector("a.clear")?.addEventListener("click", leave);
  addEventListener("beforeunload", (event) => {
    if (!isSent && (form.dataset.unsaved === "yes" || values() !== before)) {
      event.preventDefault();
    }
  });
}

// An upload tells how far it is, and that a file is too large before it is sent.
for (const form of document.querySelectorAll("form[enctype='multipart/form-data']")) {
  const told = form.querySelector(".sending");
  const file = form.querySelector("input[type=file]");
  if (!told || !file) {
    continue;
  }
  const bar = told.querySelector("progress");
  const words = told.querySelector("span");
  const button = form.querySelector("button[type=submit]");

  const say = (text, share) => {
    told.hidden = false;
    words.textContent = text;
    bar.hidden = share === undefined;
    if (share !== undefined) {
      bar.value = share;
    }
  };

  const ended = (request) => {
    if (request.status === 200) {
      location.assign(request.responseURL);
      return;
    }
    const page = new DOMParser().parseFromString(request.responseText, "text/html");
    const reason = page.querySelector("[role=alert]");
    button.disabled = false;
    say(reason ? reason.textContent : told.dataset.failed);
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const limit = Number(file.dataset.limit || 0);
    if (limit && file.files.length && file.files[0].size > limit) {
      say(told.dataset.tooLarge);
      return;
    }
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "text/html");
    request.upload.addEventListener("progress", (sent) => {
      if (sent.lengthComputable) {
        say(`${Math.floor((100 * sent.loaded) / sent.total)} %`, sent.loaded / sent.total);
      }
    });
    request.addEventListener("load", () => ended(request));
    request.addEventListener("error", () => {
      button.disabled = false;
      say(told.dataset.failed);
    });
    button.disabled = true;
    say("0 %", 0);
    request.send(new FormData(form));
  });
}
