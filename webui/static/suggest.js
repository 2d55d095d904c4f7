// Suggestions below a search field while one types: an ARIA combobox with a list.
"use strict";

for (const input of document.querySelectorAll("input[data-suggest][data-label]")) {
  const list = document.createElement("ul");
  list.id = `${input.id}-suggestions`;
  list.className = "suggestions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", input.dataset.label);
  list.hidden = true;
  input.after(list);
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-controls", list.id);
  input.setAttribute("aria-expanded", "false");
  let asked = 0;
  let timer = 0;

  const options = () => [...list.children];
  const chosen = () => list.querySelector("[aria-selected=true]");
  const close = () => {
    asked += 1;
    clearTimeout(timer);
    list.hidden = true;
    list.replaceChildren();
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const choose = (option) => {
    chosen()?.setAttribute("aria-selected", "false");
    if (option) {
      option.setAttribute("aria-selected", "true");
      option.scrollIntoView({ block: "nearest" });
      input.setAttribute("aria-activedescendant", option.id);
    } else {
      input.removeAttribute("aria-activedescendant");
    }
  };

  const show = (found) => {
    list.replaceChildren(
      ...found.map((one, number) => {
        const option = document.createElement("li");
        option.id = `${list.id}-${number}`;
        option.setAttribute("role", "option");
        option.setAttribute("aria-selected", "false");
        option.dataset.url = one.url;
        const text = document.createElement("span");
        text.dir = "auto";
        text.textContent = one.text;
        const kind = document.createElement("small");
        kind.textContent = one.kind === "creator" || one.kind === "subject"
          ? `${one.label} · ${one.records.toLocaleString(document.documentElement.lang)}` : one.label;
        option.append(text, " ", kind);
        return option;
      })
    );
    list.hidden = !found.length;
    input.setAttribute("aria-expanded", String(Boolean(found.length)));
  };

  const ask = async () => {
    const number = ++asked;
    const query = new URLSearchParams({ q: input.value });
    const { answered, told } = await askJson(`${input.dataset.suggest}?${query}`);
    if (answered && number === asked && document.activeElement === input) {
      show(told.suggestions);
    }
  };

  input.addEventListener("input", () => {
    clearTimeout(timer);
    if (input.value.trim().length < 2) {
      close();
    } else {
      timer = setTimeout(ask, 60);
    }
  });
  input.addEventListener("keydown", (event) => {
    const all = options();
    const at = all.indexOf(chosen());
    if (event.key === "ArrowDown" && all.length) {
      choose(all[(at + 1) % all.length]);
    } else if (event.key === "ArrowUp" && all.length) {
      choose(at === 0 ? null : all.at(at < 0 ? -1 : at - 1));
    } else if (event.key === "Enter" && chosen()) {
      location.assign(chosen().dataset.url);
    } else if (event.key === "Escape" && !list.hidden) {
      close();
    } else {
      return;
    }
    event.preventDefault();
  });
  input.addEventListener("blur", close);
  list.addEventListener("pointerdown", (event) => {
    const option = event.target.closest("[data-url]");
    event.preventDefault();
    if (option) {
      location.assign(option.dataset.url);
    }
  });
}
