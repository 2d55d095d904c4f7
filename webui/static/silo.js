// What JavaScript adds; every page works without it.
"use strict";

// What the server answers in JSON, {answered, told}; without an answer, as when the page is left or the
// network is gone, answered is false and told is null.
const askJson = async (address, options = {}) => {
  try {
    const answer = await fetch(address, { headers: { Accept: "application/json" }, ...options });
    return { answered: answer.ok, told: await answer.json() };
  } catch {
    return { answered: false, told: null };
  }
};

// The text of a page, or an empty one where the server does not answer with it.
const askPage = async (address, options) => {
  try {
    const answer = await fetch(address, options);
    return answer.ok ? await answer.text() : "";
  } catch {
    return "";
  }
};

// A facet on demand: values appear while one types.
for (const form of document.querySelectorAll("form.typed")) {
  const input = form.querySelector("input[name=match]");
  const found = form.querySelector(".typed-found");
  let waiting = 0;
  let asked = 0;

  const show = (values, url) => {
    const list = document.createElement("ul");
    list.className = "choices";
    for (const one of values.slice(0, 10)) {
      const link = document.createElement("a");
      const target = new URL(url, location.href);
      const fields = target.searchParams;
      fields.append(fields.get("field"), one.value);
      fields.delete("field");
      link.href = target.pathname.replace(/\/values$/, "") + "?" + fields.toString();
      const label = document.createElement("span");
      label.dir = "auto";
      label.textContent = one.value;
      const count = document.createElement("span");
      count.className = "number";
      count.textContent = one.count.toLocaleString(document.documentElement.lang);
      link.append(label, " ", count);
      const item = document.createElement("li");
      item.append(link);
      list.append(item);
    }
    found.replaceChildren(list);
  };

  const look = async () => {
    const number = ++asked;
    const text = input.value.trim();
    if (!text) {
      found.replaceChildren();
      return;
    }
    const url = new URL(form.dataset.values, location.href);
    const twin = new URL(url);
    twin.pathname += ".json";
    twin.searchParams.set("match", text);
    const { answered, told } = await askJson(twin);
    if (answered && number === asked) {
      show(told.values, url);
    }
  };

  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, 200);
  });
}

// One menu is open at a time; Escape and a click elsewhere close it.
const menus = document.querySelectorAll("details.menu");
const closeMenus = (except) => {
  for (const menu of menus) {
    if (menu !== except) {
      menu.open = false;
    }
  }
};
document.addEventListener("click", (event) => closeMenus(event.target.closest("details.menu")));
document.addEventListener("keydown", (event) => {
  const open = document.querySelector("details.menu[open]");
  if (event.key === "Escape" && open) {
    open.open = false;
    open.querySelector("summary").focus();
  }
});

// Single keys work where nothing is being typed; the person may switch them off (WCAG 2.1.4).
const keySwitch = document.getElementById("keys-off");
window.mayUseKey = (event) =>
  !event.defaultPrevented &&
  !event.ctrlKey &&
  !event.metaKey &&
  !event.altKey &&
  !event.isComposing &&
  !event.target.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]") &&
  localStorage.getItem("keys") !== "off";
if (keySwitch) {
  const keys = document.getElementById("keys");
  keySwitch.checked = localStorage.getItem("keys") === "off";
  keySwitch.addEventListener("change", () => {
    localStorage.setItem("keys", keySwitch.checked ? "off" : "on");
  });
  for (const button of document.querySelectorAll("button[data-keys]")) {
    button.hidden = false;
  }
  document.addEventListener("keydown", (event) => {
    if (!window.mayUseKey(event)) {
      return;
    }
    if (event.key === "/") {
      const box = document.querySelector("#q, #find");
      if (box) {
        event.preventDefault();
        box.focus();
        box.select();
      }
    } else if (event.key === "?") {
      event.preventDefault();
      keys.togglePopover();
      keys.querySelector("button").focus();
    }
  });
}

// A text is copied by its button, where the browser lets a page do so.
for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!navigator.clipboard) {
    continue;
  }
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(
      document.getElementById(button.dataset.copy).textContent.trim()
    );
    button.textContent = button.dataset.copied;
  });
}

// The histogram of years: drag over bars to choose their years.
for (const years of document.querySelectorAll(".years")) {
  const drawing = years.querySelector(".drawing");
  const form = years.querySelector("form.range");
  const [start, width, bins] = ["start", "width", "bins"].map((name) => +years.dataset[name]);
  const slot = Math.min(88 / bins, 12);
  let from = -1;
  let to = -1;

  const barAt = (event) => {
    const box = drawing.getBoundingClientRect();
    const place = ((event.clientX - box.left) / box.width) * 100;
    return Math.max(0, Math.min(bins - 1, Math.floor((place - 12) / slot)));
  };

  const show = () => {
    const [first, last] = [Math.min(from, to), Math.max(from, to)];
    form.elements.year_from.value = start + first * width;
    form.elements.year_to.value = start + (last + 1) * width - 1;
    for (const bar of drawing.querySelectorAll("rect")) {
      const number = Math.floor((parseFloat(bar.getAttribute("x")) - 12) / slot);
      bar.classList.toggle("main", number >= first && number <= last);
      bar.classList.toggle("soft", number < first || number > last);
    }
  };

  drawing.addEventListener("dragstart", (event) => event.preventDefault());
  drawing.addEventListener("pointerdown", (event) => {
    if (event.button === 0) {
      from = to = barAt(event);
    }
  });
  window.addEventListener("pointermove", (event) => {
    if (from >= 0 && barAt(event) !== to) {
      to = barAt(event);
      show();
    }
  });
  window.addEventListener("pointerup", () => {
    if (from >= 0 && from !== to) {
      form.requestSubmit();
    }
    from = -1;
  });
  window.addEventListener("pointercancel", () => { from = -1; });
}

// The form of an export counts its records again whenever a condition changes.
for (const form of document.querySelectorAll("form[data-recount]")) {
  const conditions = ["q", "set", "state"].map((name) => form.elements[name]).filter(Boolean);
  const buttons = form.querySelectorAll("button:not([formmethod])");
  let latest = 0;
  let timer = 0;

  const count = async () => {
    const number = ++latest;
    const query = new URLSearchParams({ search: form.elements.search.value });
    for (const one of conditions) {
      query.set(one.name, one.value);
    }
    const { answered, told } = await askJson(`${form.dataset.recount}?${query}`);
    if (number !== latest || !told) {
      return;
    }
    const said = answered ? told.said : told.error.message;
    const records = answered ? told.records : 0;
    form.querySelector("[data-said] strong").textContent = said;
    form.querySelector("[data-said] a")?.setAttribute("href", told.shown_at || "");
    form.querySelector("[data-none]").hidden = !answered || records > 0;
    form.elements.counted.value = answered ? told.counted : "";
    for (const button of buttons) {
      button.disabled = !records;
    }
  };

  for (const one of conditions) {
    one.addEventListener("input", () => {
      latest += 1; // what is under way is no longer asked for
      clearTimeout(timer);
      timer = setTimeout(count, 200);
    });
  }
}

// What is made in the background is shown when it is there.
for (const one of document.querySelectorAll("[data-awaited]")) {
  const timer = setInterval(async () => {
    const { answered, told } = await askJson(one.dataset.awaited);
    if (answered && told.found) {
      clearInterval(timer);
      location.reload();
    }
  }, 2000);
}
