// Values are renamed where they stand, and counted while one types; without it, links lead to a form.
"use strict";

// The records that a form would change, told beneath its new value.
const follow = (form) => {
  const said = form.querySelector(".told-counts");
  let latest = 0;
  let timer = 0;

  const count = async () => {
    const number = ++latest;
    const fields = new FormData(form);
    fields.delete("message");
    const { told } = await askJson(`${form.getAttribute("action")}.json?${new URLSearchParams(fields)}`);
    if (number === latest && said) {
      const counts = told?.counts;
      said.textContent = counts ? counts.said : "";
      const edit = form.querySelector("[data-edit]");
      if (edit && counts?.edit) {
        edit.hidden = false;
        edit.href = told.batch_edit;
        edit.textContent = counts.edit;
      }
      const everywhere = form.querySelector("[data-everywhere]");
      if (everywhere && told?.everywhere && counts?.all) {
        everywhere.hidden = false;
        everywhere.href = told.everywhere;
        everywhere.textContent = counts.all;
      }
    }
  };

  form.addEventListener("recount", () => {
    latest += 1; // an answer that is still to come is about another value
    if (said && !form.elements.to.value.trim()) {
      said.textContent = "";
    }
    clearTimeout(timer);
    timer = setTimeout(count, 60);
  });
  count();
};

document.addEventListener("input", ({ target }) => {
  if (target.form?.classList.contains("renaming") && target.name !== "message") {
    target.form.dispatchEvent(new Event("recount"));
  }
});

for (const form of document.querySelectorAll("form.renaming")) {
  follow(form);
}

// Ticked values become one: the most frequent of them is offered as the new value.
for (const form of document.querySelectorAll("form.merging")) {
  let isTyped = false;
  form.elements.to.addEventListener("input", () => { isTyped = true; });
  form.addEventListener("recount", () => {
    const ticked = [...form.elements].filter((one) => one.type === "checkbox" && one.checked);
    const records = (one) => Number(one.closest("li")?.querySelector(".number")?.textContent.replace(/\D/g, ""));
    ticked.sort((one, other) => records(other) - records(one));
    if (!isTyped) {
      form.elements.to.value = ticked.length ? ticked[0].value : "";
    }
  });
}

const template = document.getElementById("renaming");

const open = (link) => {
  const form = template.content.firstElementChild.cloneNode(true);
  const fields = new URL(link.href).searchParams;
  const values = fields.getAll("value");
  const hide = (name, value) => {
    const input = document.createElement("input");
    [input.type, input.name, input.value] = ["hidden", name, value];
    form.append(input);
  };
  hide("field", fields.get("field"));
  hide("search", fields.get("search") || "");
  values.forEach((value, number) => hide(`value-${number}`, value));
  const input = form.elements.to;
  input.value = values[0];
  input.id = "renamed-to";
  form.querySelector("label").htmlFor = input.id;

  const close = () => {
    form.remove();
    link.focus();
  };
  form.querySelector("[data-close]").addEventListener("click", close);
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.preventDefault();
      close();
    }
  });
  document.querySelector("form.renaming.inline")?.remove();
  link.closest("li, dd, p").append(form);
  input.focus();
  input.select();
  follow(form);
};

if (template) {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.rename");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      open(link);
    }
  });
}
