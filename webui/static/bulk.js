// The form of a batch edit: its inputs, values that are offered, and what it would do, while one types.
"use strict";

const rule = document.querySelector("form.rule");

// The kind of a change is chosen from a list: the form then has the inputs of this kind.
for (const select of rule.querySelectorAll("select[data-kind]")) {
  select.addEventListener("change", () => {
    const button = document.createElement("button");
    [button.name, button.value, button.hidden] = ["do", select.dataset.kind, true];
    button.formNoValidate = true;
    rule.append(button);
    rule.requestSubmit(button);
  });
}

// Values of the records found are offered with their counts.
const offer = async (input) => {
  const field = document.getElementById(input.id.replace(/value$/, "field"));
  const facet = field.selectedOptions[0].dataset.facet;
  const list = document.getElementById(`${input.id}-values`);
  if (!facet || "listed" in rule.dataset) {
    list.replaceChildren();
    return;
  }
  const query = new URLSearchParams(rule.elements.search.value);
  query.set("field", facet);
  query.set("match", input.value.trim());
  const { answered, told } = await askJson(`${rule.dataset.values}.json?${query}`);
  if (!answered) {
    return;
  }
  list.replaceChildren(...told.values.slice(0, 50).map((one) => {
    const option = document.createElement("option");
    option.value = one.value;
    option.label = `${one.value} (${one.count.toLocaleString(document.documentElement.lang)})`;
    return option;
  }));
};

// What the changes would do to the first values is shown below the last of them.
const places = rule.querySelectorAll("[data-tried]");
let latest = 0;

const attempt = async () => {
  const place = places[places.length - 1];
  const number = ++latest;
  const fields = new URLSearchParams(new FormData(rule));
  fields.set("do", "sample");
  const { answered, told } = await askJson(rule.getAttribute("action"), {
    method: "POST", body: fields, headers: { Accept: "application/json" },
  });
  if (number !== latest) {
    return;
  }
  place.replaceChildren();
  if (!answered || told.fault) {
    return; // not finished yet; the preview says what is wrong
  }
  const said = document.createElement("p");
  said.textContent = told.said;
  const list = document.createElement("ul");
  for (const one of told.shown) {
    const item = document.createElement("li");
    const before = document.createElement("del");
    before.textContent = one.before;
    item.append(before, " → ");
    one.after.forEach((text, place_) => {
      const after = document.createElement("ins");
      after.textContent = text;
      item.append(place_ ? " · " : "", after);
    });
    item.dir = "auto";
    list.append(item);
  }
  place.append(said, list);
};

let timer = 0;
rule.addEventListener("input", ({ target }) => {
  if (places.length && target.name?.startsWith("change-")) {
    clearTimeout(timer);
    timer = setTimeout(() => {
      attempt();
      if (/-value$/.test(target.name) && target.list) {
        offer(target);
      }
    }, 150);
  }
  if (/^change-\d+-field$/.test(target.name)) {
    const value = document.getElementById(target.id.replace(/field$/, "value"));
    if (value?.list) {
      offer(value);
    }
  }
});
if (places.length) {
  attempt();
}
