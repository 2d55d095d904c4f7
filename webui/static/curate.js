// What JavaScript adds where records are curated; every page works without it.
"use strict";

// Type-ahead: the values other records have, while one types.
const looking = new WeakMap(); // input → the timer of its next request

async function look(input) {
  const match = input.value.trim();
  if (match.length < 2) {
    return;
  }
  const url = new URL(input.dataset.values, location.href);
  url.pathname += ".json";
  url.searchParams.set("match", match);
  const { answered, told } = await askJson(url);
  if (!answered || input.value.trim() !== match) {
    return;
  }
  const options = told.values.slice(0, 20).map((one) => {
    const option = document.createElement("option");
    option.value = one.value;
    return option;
  });
  document.getElementById(input.getAttribute("list"))?.replaceChildren(...options);
}

document.addEventListener("input", (event) => {
  const input = event.target;
  if (input.matches("input[data-values]")) {
    clearTimeout(looking.get(input));
    looking.set(input, setTimeout(look, 200, input));
  }
  showUnsaved();
});

// What was edited and not saved is listed, and not left without a question.
let isLeft = false;

const isEdited = (one) =>
  one.tagName === "SELECT"
    ? one.selectedIndex !== Math.max(0, [...one.options].findIndex((option) => option.defaultSelected))
    : one.value !== one.defaultValue;

function unsaved(form) {
  const fields = form.querySelectorAll("select:not([name=add]), textarea:not([hidden]), input[type=text]");
  const edited = [...fields].filter(isEdited);
  const names = edited.map(
    (one) => (one.closest("fieldset:not(.save)")?.querySelector("legend") ?? one.labels?.[0])?.firstChild.textContent.trim(),
  );
  const told = form.querySelector(".unsaved");
  return new Set([...told.dataset.fields.split("; "), ...names].filter(Boolean));
}

function showUnsaved() {
  for (const form of document.querySelectorAll("form[data-unsaved]")) {
    const told = form.querySelector(".unsaved");
    const names = [...unsaved(form)];
    const text = names.length ? `${told.dataset.some} ${names.join("; ")}` : told.dataset.none;
    if (told.textContent !== text) {
      told.textContent = text;
    }
  }
}

addEventListener("beforeunload", (event) => {
  const form = document.querySelector("form[data-unsaved]");
  if (form && !isLeft && (form.dataset.unsaved === "yes" || unsaved(form).size)) {
    event.preventDefault();
  }
});

document.addEventListener("click", (event) => {
  isLeft = event.target.closest("form[data-unsaved] a.clear") !== null;
});

// Adding, moving and removing values: the page stays where it is, and so does the focus.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("form[data-unsaved]")) {
    return;
  }
  const button = event.submitter;
  if (form.id === "description" && /^(add|up|down|remove|base|theirs)\b/.test(button?.value ?? "")) {
    event.preventDefault();
    change(form, button);
  } else {
    isLeft = true;
  }
});

async function change(form, button) {
  const action = button.value.split("-")[0];
  const target = new URL(button.formAction, location.href).hash.slice(1);
  const height = button.getBoundingClientRect().top;
  const sent = new URLSearchParams(new FormData(form, button));
  form.inert = true;
  let page;
  try {
    const answer = await fetch(form.action, { method: "POST", body: sent, headers: { Accept: "text/html" } });
    page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!page.getElementById("description")) {
      throw new Error(page.querySelector("[role=alert]")?.textContent ?? "");
    }
  } catch (error) {
    form.inert = false;
    form.querySelector(".unsaved").textContent = error instanceof TypeError || !error.message ? form.dataset.lost : error.message;
    button.focus();
    return;
  }
  const fresh = page.querySelector("#description [autofocus]");
  fresh?.removeAttribute("autofocus"); // the browser would move the page
  document.getElementById("content").replaceChildren(...page.getElementById("content").childNodes);
  const input = fresh ?? document.getElementById(target);
  const row = input?.closest(".value");
  const moved = ["up", "down"].includes(action) && row;
  const place =
    (moved && (row.querySelector(`button[value^="${action}-"]:enabled`) ?? row.querySelector(".moves button:enabled"))) ||
    input ||
    document.getElementById("add");
  place.focus({ preventScroll: true });
  scrollBy({ top: place.getBoundingClientRect().top - height, behavior: "instant" });
  showUnsaved();
}

showUnsaved();

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

  // Say what is wrong at its field, or at the top of the form, as a page sent by the server does.
  const refuse = (text, field) => {
    told.hidden = true;
    form.querySelectorAll(".fault").forEach((one) => one.remove());
    form.querySelectorAll("[aria-invalid]").forEach((one) => one.removeAttribute("aria-invalid"));
    const note = document.createElement(field ? "small" : "p");
    note.className = field ? "fault" : "note fault";
    note.setAttribute("role", "alert");
    note.dir = "auto";
    note.textContent = text;
    if (field) {
      note.id = `${field.id}-fault`;
      field.after(note);
      field.setAttribute("aria-invalid", "true");
      const others = (field.getAttribute("aria-describedby") ?? "").split(" ");
      field.setAttribute("aria-describedby", [...new Set([...others, note.id])].join(" ").trim());
      field.focus();
    } else {
      form.prepend(note);
      note.scrollIntoView({ block: "nearest" });
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
    if (reason) {
      const named = page.querySelector("main [aria-invalid]")?.name;
      refuse(reason.textContent, named && form.elements.namedItem(named));
    } else {
      say(told.dataset.failed);
    }
  };

  form.addEventListener("submit", (event) => {
    if (!file.files.length) {
      return;
    }
    event.preventDefault();
    const limit = Number(file.dataset.limit || 0);
    if (limit && file.files[0].size > limit) {
      refuse(told.dataset.tooLarge, file);
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
