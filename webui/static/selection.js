// Ticks are kept at once; without JavaScript they are kept by the next button.
"use strict";

const bar = document.getElementById("selection");
if (bar) {
  const said = bar.querySelector("[data-said]");
  const boxes = [...document.querySelectorAll("input[type=checkbox][form=selection]")];
  let last = null;
  let waiting = Promise.resolve();

  const send = async (changed) => {
    const fields = new URLSearchParams({ do: "keep" });
    changed.forEach((box, number) => {
      const identifier = document.getElementsByName(box.name.replace("tick-", "row-"))[0].value;
      fields.set(`row-${number}`, identifier);
      fields.set(`${box.checked ? "tick" : "had"}-${number}`, "yes");
    });
    const among = bar.querySelector("[name=among]");
    if (among) {
      fields.set("among", among.value);
    }
    const { answered, told } = await askJson(bar.action, {
      method: "POST",
      headers: { Accept: "application/json" },
      body: fields,
    });
    said.textContent = answered ? told.said : told?.error.message ?? bar.dataset.lost;
    if (!answered) {
      changed.forEach((box) => {
        box.checked = !box.checked;
      });
    }
  };

  for (const box of boxes) {
    // With Shift, all rows from the one ticked before are ticked too.
    box.addEventListener("click", (event) => {
      const changed = [box];
      if (event.shiftKey && last) {
        const [from, to] = [boxes.indexOf(last), boxes.indexOf(box)].sort((a, b) => a - b);
        for (const one of boxes.slice(from, to + 1)) {
          if (one.checked !== box.checked) {
            one.checked = box.checked;
            changed.push(one);
          }
        }
      }
      last = box;
      waiting = waiting.then(() => send(changed));
    });
  }
}
