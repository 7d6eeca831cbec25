// On a page of the book that this server shows: beside a command for the terminal stands a link that does it here.
(() => {
  "use strict";
  const ways = [
    [/^marginbook claims ([a-z0-9]+\/[\w.-]+)$/, "/-/claims/", "check it here and now"],
    [/^marginbook experiment run ([a-z0-9]+\/[\w.-]+)( --profile paper)?$/, "/-/experiments/", "run its quick slice here"],
  ];
  for (const code of document.querySelectorAll("article.bd-article code")) {
    for (const [command, place, text] of ways) {
      const found = command.exec(code.textContent.trim());
      if (!found) continue;
      const link = document.createElement("a");
      link.href = place + found[1].split("/").map(encodeURIComponent).join("/");
      link.textContent = text;
      link.className = "serve-here";
      code.after(" (", link, ")");
    }
  }
})();
