// What JavaScript adds where one goes through a queue; without it, everything works by its buttons.
"use strict";

// `s` presses the main button, in a field Ctrl+Enter.
document.addEventListener("keydown", (event) => {
  const isPlain = event.key === "s" && window.mayUseKey(event);
  const isSent = event.key === "Enter" && (event.ctrlKey || event.metaKey);
  const button = document.querySelector("[data-key=s]");
  if (button && !event.repeat && (isPlain || isSent)) {
    event.preventDefault();
    button.click();
  }
});

// The value that a finding is about is there to be written over, as soon as it has the focus.
const first = document.querySelector("form[data-unsaved] [autofocus]");
if (first) {
  first.addEventListener("focus", () => first.select(), { once: true });
  if (document.activeElement === first && first.value === first.defaultValue) {
    first.select();
  }
}

// What was done is announced: a text that a page has from its beginning is not.
const told = document.querySelector(".queue + .done");
if (told) {
  const said = told.cloneNode();
  said.className = "unseen";
  told.removeAttribute("role");
  told.after(said);
  setTimeout(() => {
    said.textContent = told.textContent;
  }, 200);
}

// The time since one began.
const clock = document.querySelector("[data-began]");
const tell = () => {
  const seconds = Math.max(0, Math.floor(Date.now() / 1000 - Number(clock.dataset.began)));
  const [minutes, rest] = [Math.floor(seconds / 60) % 60, seconds % 60];
  const hours = Math.floor(seconds / 3600);
  const two = (number) => String(number).padStart(2, "0");
  clock.textContent = hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
};
if (clock) {
  setInterval(tell, 1000);
}

// What is to be merged is in this page only: it is not left without a question.
let isCarried = document.querySelector("form[data-carried]") !== null;
document.addEventListener("submit", () => {
  isCarried = false;
});
addEventListener("beforeunload", (event) => {
  if (isCarried) {
    event.preventDefault();
  }
});
