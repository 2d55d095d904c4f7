// The order of a collection by dragging, or by the arrow keys on the handle; without it, by numbers.
"use strict";

for (const list of document.querySelectorAll("ol[data-order]")) {
  const { move, moved } = list.dataset;
  const told = document.createElement("p");
  told.className = "unseen";
  told.setAttribute("role", "status");
  list.after(told);
  const rows = () => [...list.children];
  const number = (row) => row.querySelector("input[type=number]");
  const title = (row) => row.querySelector("label").textContent;

  // Everything down to the last row that has a number has one, and so has the row that was moved.
  const count = (row) => {
    const all = rows();
    let last = all.indexOf(row);
    all.forEach((one, place) => {
      if (number(one).value) {
        last = Math.max(last, place);
      }
    });
    all.forEach((one, place) => {
      number(one).value = place <= last ? place + 1 : "";
    });
    const place = all.indexOf(row) + 1;
    told.textContent = moved.replace("{title}", title(row)).replace("{place}", place);
  };
  // Moving an element takes its focus away.
  const put = (row, before) => {
    list.insertBefore(row, before);
    count(row);
    row.querySelector(".mover").focus();
  };

  let dragged = null;
  for (const row of rows()) {
    const mover = document.createElement("button");
    mover.type = "button";
    mover.className = "mover quiet";
    mover.textContent = "↕";
    mover.setAttribute("aria-label", move.replace("{title}", title(row)));
    row.prepend(mover);
    mover.addEventListener("keydown", (event) => {
      const up = event.key === "ArrowUp" && row.previousElementSibling;
      const down = event.key === "ArrowDown" && row.nextElementSibling;
      if (up || down) {
        event.preventDefault();
        put(row, up || down.nextElementSibling);
      }
    });
    mover.addEventListener("pointerdown", (event) => {
      if (event.button === 0) {
        event.preventDefault();
        dragged = row;
        row.classList.add("dragged");
      }
    });
  }
  // On the document: what is moved within the list would lose the pointer.
  document.addEventListener("pointermove", (event) => {
    const other = dragged && rows().find((one) => {
      const box = one.getBoundingClientRect();
      return one !== dragged && event.clientY >= box.top && event.clientY < box.bottom;
    });
    if (other) {
      const box = other.getBoundingClientRect();
      const isAbove = event.clientY < box.top + box.height / 2;
      list.insertBefore(dragged, isAbove ? other : other.nextElementSibling);
    }
  });
  const drop = () => {
    if (dragged) {
      dragged.classList.remove("dragged");
      count(dragged);
      dragged.querySelector(".mover").focus();
      dragged = null;
    }
  };
  document.addEventListener("pointerup", drop);
  document.addEventListener("pointercancel", drop);
}
