// The list of records: keys, a preview beside it, columns by drag. Every page works without it.
"use strict";

const found = document.getElementById("found");
const rows = found ? [...found.querySelectorAll("[data-url]")] : [];
const preview = document.getElementById("preview");

// -- a preview of a record, beside the list ---------------------------------------------------

const shown = preview && preview.querySelector("[aria-live]");
let previewed = null;

const hidePreview = () => {
  preview.hidden = true;
  previewed?.classList.remove("current");
  previewed = null;
};

const showPreview = async (row) => {
  previewed?.classList.remove("current");
  previewed = row;
  row.classList.add("current");
  preview.hidden = false;
  shown.setAttribute("aria-busy", "true");
  const text = await askPage(row.dataset.url, { headers: { Accept: "text/html" } });
  if (previewed !== row) {
    return;
  }
  shown.removeAttribute("aria-busy");
  if (!text) {
    shown.textContent = preview.dataset.failed;
    return;
  }
  const page = new DOMParser().parseFromString(text, "text/html");
  const heading = document.createElement("h2");
  const link = document.createElement("a");
  link.href = row.dataset.url;
  link.dir = "auto";
  link.textContent = page.querySelector("h1").textContent;
  heading.append(link);
  const parts = page.querySelectorAll(".heading.record > :not(h1), dl.fields, .note");
  for (const one of page.querySelectorAll("[id]")) {
    one.removeAttribute("id");
  }
  shown.replaceChildren(heading, ...parts);
};

if (preview) {
  preview.querySelector(".close button").addEventListener("click", () => {
    const row = previewed;
    hidePreview();
    row?.querySelector("a")?.focus();
  });
  for (const row of rows) {
    row.addEventListener("click", (event) => {
      const isText = !event.target.closest("a, input, button, summary, label");
      if (isText && !window.getSelection().toString()) {
        showPreview(row);
      }
    });
  }
}

// -- keys: only where nothing is being typed, and not where they are switched off --------------

const at = () => rows.findIndex((row) => row.contains(document.activeElement));

const go = (step) => {
  const now = at() < 0 ? rows.indexOf(previewed) : at();
  const row = rows[now < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, now + step))];
  row?.querySelector("h2 a, td a, a")?.focus();
  if (row && !preview.hidden) {
    showPreview(row);
  }
};

const edit = (row) => {
  if (row?.dataset.edit) {
    location.assign(row.dataset.edit);
  } else if (row?.dataset.queue) {
    // A form that makes a working copy when it is saved, not when it is looked at.
    const to = new URL(row.dataset.queue, location.href);
    const from = new URL(row.dataset.url, location.href).searchParams.get("from") || "";
    to.searchParams.set("from", from);
    location.assign(to);
  }
};

if (rows.length) {
  const current = () => rows[at()] || previewed;
  const does = {
    j: () => go(1),
    k: () => go(-1),
    x: () => current()?.querySelector("input[type=checkbox]")?.click(),
    e: () => edit(current()),
    p: () => (preview.hidden ? showPreview(current() || rows[0]) : hidePreview()),
    Enter: () => previewed && at() < 0 && location.assign(previewed.dataset.url),
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && preview && !preview.hidden && !event.defaultPrevented) {
      hidePreview();
    } else if (does[event.key] && window.mayUseKey(event)) {
      if (event.key !== "Enter") {
        event.preventDefault();
      }
      does[event.key]();
    }
  });
}

// -- the table: columns by drag, widths, and a sign that there is more beside -------------------

const look = document.getElementById("look");
const table = found && found.querySelector("table");
const keep = () =>
  askJson(look.action, {
    method: "POST",
    headers: { Accept: "application/json" },
    body: new URLSearchParams(new FormData(look)),
  });

// The boxes of the form are in the order of the columns, and may be dragged.
if (look) {
  const items = look.querySelector("[data-sortable]");
  let dragged = null;
  for (const item of items.children) {
    item.draggable = true;
  }
  items.addEventListener("dragstart", (event) => {
    dragged = event.target.closest("li");
    event.dataTransfer.effectAllowed = "move";
  });
  items.addEventListener("dragover", (event) => {
    const over = event.target.closest("li");
    if (dragged && over && over !== dragged) {
      const box = over.getBoundingClientRect();
      const isBehind = event.clientY > box.top + box.height / 2;
      over[isBehind ? "after" : "before"](dragged);
    }
    event.preventDefault();
  });
  items.addEventListener("drop", (event) => event.preventDefault());
}

if (table) {
  const scroll = table.closest(".scroll");
  const heads = [...table.querySelectorAll("th[data-column]")];
  const item = (name) => look.elements[`column-${name}`].closest("li");
  const column = (name) => table.querySelector(`col[data-column="${CSS.escape(name)}"]`);

  const tell = () => {
    const isWider = scroll.scrollWidth > scroll.clientWidth + 1;
    document.querySelector(".sideways").hidden = !isWider;
    scroll.classList.toggle("more", isWider && scroll.scrollLeft + scroll.clientWidth < scroll.scrollWidth - 1);
  };
  const setWidth = (name, width) => {
    const wide = Math.round(Math.max(48, Math.min(width, 1600)));
    column(name).style.width = `${wide}px`;
    let field = look.elements[`width-${name}`];
    if (!field) {
      field = document.createElement("input");
      field.type = "hidden";
      field.name = `width-${name}`;
      item(name).append(field);
    }
    field.value = wide;
    tell();
  };

  let moved = null;
  for (const head of heads) {
    const name = head.dataset.column;
    const wide = column(name).dataset.width;
    if (wide) {
      column(name).style.width = `${wide}px`;
    }

    // A column is dragged by its head onto another one.
    head.draggable = true;
    head.addEventListener("dragstart", (event) => {
      moved = name;
      event.dataTransfer.effectAllowed = "move";
    });
    head.addEventListener("dragover", (event) => moved && event.preventDefault());
    head.addEventListener("drop", async (event) => {
      event.preventDefault();
      if (moved && moved !== name) {
        const isBehind = heads.findIndex((one) => one.dataset.column === moved) < heads.indexOf(head);
        item(name)[isBehind ? "after" : "before"](item(moved));
        if ((await keep()).answered) {
          location.reload();
        }
      }
      moved = null;
    });

    const grip = document.createElement("span");
    grip.className = "grip";
    grip.tabIndex = 0;
    grip.draggable = false;
    grip.setAttribute("role", "separator");
    grip.setAttribute("aria-orientation", "vertical");
    grip.setAttribute("aria-label", head.dataset.grip);
    const say = () => grip.setAttribute("aria-valuenow", Math.round(head.offsetWidth));
    grip.setAttribute("aria-valuemin", 48);
    grip.setAttribute("aria-valuemax", 1600);
    say();
    let start = null;
    grip.addEventListener("pointerdown", (event) => {
      start = { x: event.clientX, width: head.offsetWidth };
      head.draggable = false;
      grip.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    grip.addEventListener("pointermove", (event) => {
      if (start) {
        setWidth(name, start.width + event.clientX - start.x);
      }
    });
    grip.addEventListener("pointerup", () => {
      if (start) {
        start = null;
        head.draggable = true;
        say();
        keep();
      }
    });
    grip.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -16, ArrowRight: 16 }[event.key];
      if (step) {
        event.preventDefault();
        setWidth(name, head.offsetWidth + step);
        say();
        keep();
      }
    });
    head.append(grip);
  }
  scroll.addEventListener("scroll", tell, { passive: true });
  window.addEventListener("resize", tell);
  tell();
}
