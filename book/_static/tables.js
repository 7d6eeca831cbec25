// A table that is wider than its column shows each row as a card of labelled values, instead of hiding columns
// beyond an edge. Tables of the class "cards" have a style of their own for phones.
const LONG = 24; // letters: a value that takes a line of its own

const tables = [...document.querySelectorAll("article.bd-article table:not(.indextable)")].filter((table) => table.tHead);

/** The words above each column, from all rows of the head. */
const headings = (table) => {
  const words = [];
  for (const row of table.tHead.rows) {
    let place = 0;
    for (const cell of row.cells) {
      const word = cell.textContent.trim();
      for (let more = 0; more < cell.colSpan; more += 1, place += 1) {
        words[place] ??= [];
        if (word && words[place].at(-1) !== word) words[place].push(word);
      }
    }
  }
  return words.map((each) => each.join(", "));
};

const label = (table) => {
  if (table.dataset.labelled) return;
  table.dataset.labelled = "yes";
  const words = headings(table);
  for (const body of table.tBodies) {
    const above = []; // for each column, the cell that reaches down from above, and for how many more rows
    for (const row of body.rows) {
      let place = 0;
      const pass = () => {
        for (; above[place]?.rows > 0; place += 1) {
          above[place].rows -= 1;
          if (place === 0) row.dataset.under = above[place].text;
        }
      };
      for (const cell of row.cells) {
        pass();
        const text = cell.textContent.trim();
        cell.classList.toggle("head", place === 0);
        if (words[place] && place > 0) cell.dataset.label = words[place];
        if (text.length > LONG || cell.querySelector(".math, mjx-container")) cell.classList.add("long");
        for (let more = 0; more < cell.colSpan; more += 1, place += 1) above[place] = { rows: cell.rowSpan - 1, text };
      }
      pass();
    }
  }
  // what is shown as blocks is a table still
  const roles = [[table, "table"], ...[...table.rows].map((row) => [row, "row"]),
    ...[...table.rows].flatMap((row) => [...row.cells].map((cell) => [cell, cell.tagName === "TD" ? "cell"
      : cell.closest("thead") ? "columnheader" : "rowheader"]))];
  for (const [element, role] of roles) element.setAttribute("role", role);
};

const fit = () => {
  const seen = tables.filter((table) => table.parentElement.clientWidth);
  for (const table of seen) table.classList.remove("stacked");
  // first all that is read, then all that is written: else the page is laid out once for each
  const wide = seen.filter((table) => table.offsetWidth > table.parentElement.clientWidth + 1);
  for (const table of wide) {
    label(table);
    table.classList.add("stacked");
  }
};

if (tables.length) {
  let asked = 0;
  const soon = () => {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(fit);
  };
  let width = 0;
  new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.width !== width) soon();
    width = contentRect.width;
  }).observe(document.querySelector("article.bd-article"));
  // a table in a closed box has no width, and formulas change that of their columns
  document.addEventListener("toggle", soon, true);
  addEventListener("load", () => window.MathJax?.startup?.promise?.then(soon));
  document.fonts.ready.then(soon);
  fit();
}
