// Tables of the class "sortable" sort by a click, or Enter, on a heading. The library is loaded only where there is one.
const tables = document.querySelectorAll("table.sortable");
if (tables.length) {
  const { default: DataTable } = await import(new URL("datatables/dt_bundle.js", import.meta.url));
  for (const table of tables) {
    const widths = [...table.querySelectorAll("col")].map((column) => column.style.width);
    new DataTable(table, {
      paging: false, info: false, searching: false, autoWidth: false, order: [], layout: {
        topStart: null, topEnd: null, bottomStart: null, bottomEnd: null,
      },
    });
    // the library puts columns without widths in place of those of the page
    [...table.querySelectorAll("col")].forEach((column, place) => { column.style.width = widths[place] ?? ""; });
  }
}
