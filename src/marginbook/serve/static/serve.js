// The server's own pages: progress that moves, an address that says what the form holds. Nothing else.
(() => {
  "use strict";

  // progress: the server sends the same HTML that the page had in the beginning
  const box = document.querySelector("[data-poll]");
  const poll = async () => {
    let pause = 1000;
    try {
      const answer = await fetch(box.dataset.poll, { credentials: "same-origin" });
      if (answer.headers.get("x-run-over") === "yes") {
        location.reload();
        return;
      }
      if (answer.ok) box.innerHTML = await answer.text();
      else pause = 5000;
    } catch {
      pause = 5000; // the server may come back
    }
    setTimeout(poll, pause);
  };
  if (box) setTimeout(poll, 500);

  // the address of a form says what differs from the defaults, so that it can be shared
  const form = document.querySelector("form[data-link]");
  const link = () => {
    const pairs = new URLSearchParams();
    for (const place of form.querySelectorAll("[data-default]")) {
      const boxes = [...place.querySelectorAll("input[type=checkbox]")];
      const name = place.name || boxes[0]?.name;
      const values = boxes.length ? boxes.filter((b) => b.checked).map((b) => b.value) : [place.value];
      if (values.join("\n") === place.dataset.default) continue;
      for (const value of values.length ? values : [""]) pairs.append(name, value);
    }
    const text = pairs.toString();
    history.replaceState(null, "", text ? `?${text}` : location.pathname);
  };
  if (form) {
    link(); // of what was typed before this script was here, or what the browser kept
    form.addEventListener("input", link);
    form.addEventListener("reset", () => setTimeout(link));
    form.addEventListener("submit", () => {
      const button = form.querySelector("button[type=submit]");
      button.textContent = "Starting …";
      setTimeout(() => { button.textContent = "Run this page again"; }, 8000);
    });
  }

  // a filter of a long list
  const filter = document.querySelector("input[data-filter]");
  filter?.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/);
    for (const row of document.querySelectorAll("tbody tr")) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
})();
