// Suggests names of entities while one types; without it, the form finds them.
"use strict";

for (const input of document.querySelectorAll("input[data-suggest]")) {
  const list = document.getElementById(input.getAttribute("list"));
  let asked = 0;
  input.addEventListener("input", async () => {
    const text = input.value.trim();
    const mine = ++asked;
    if (text.length < 2) return;
    const url = new URL(input.dataset.suggest, location.href);
    url.searchParams.set("match", text);
    const { answered, told } = await askJson(url);
    if (!answered || mine !== asked) return;
    list.replaceChildren(
      ...told.top.map((one) => {
        const option = document.createElement("option");
        option.value = one.label;
        return option;
      }),
    );
  });
}
