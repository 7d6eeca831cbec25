"""What the tests ask of a page, in its own language: scripts that return one list for each kind of defect."""

from __future__ import annotations

# on long pages formulas wait until a reader comes near
SET_ALL = """async () => {
  await window.MathJax?.startup?.promise;
  await window.MathJax?.typesetPromise?.([document.querySelector('main') ?? document.body]);
  await document.fonts.ready;
}"""
# formulas are fitted to a new width in the frame after it; a tab in the background has none
NEXT_FRAMES = """() => Promise.race([
  new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))),
  new Promise(done => setTimeout(done, 400)),
])"""
# formulas that MathJax could not set never warn while compiling
DEFECTS = """() => {
  const say = e => e.textContent.trim().slice(0, 80);
  const all = s => [...document.querySelectorAll(s)];
  const wide = document.documentElement.clientWidth;
  // what Sphinx writes where an author wrote nothing
  const fileName = /\\.(png|svg|jpe?g|gif)$/i;
  // links, classes and roles of the source that a reader should not see
  const markup = [], raw = /\\]\\(#|\\]\\{\\.|\\{(cite|ref|doc)\\b/;
  for (const tree = document.createTreeWalker(document.querySelector('main'), 4); tree.nextNode();)
    if (raw.test(tree.currentNode.data) && !tree.currentNode.parentElement.closest('pre, code, script'))
      markup.push(say(tree.currentNode));
  return {
    markup,
    maths: all('mjx-merror, mjx-mtext[style*="red"], span.math:not(:has(mjx-container))').map(say),
    images: all('main img')
      .filter(i => !i.alt.trim() || fileName.test(i.alt) || i.naturalWidth === 0).map(i => i.src),
    overflow: [document.documentElement.scrollWidth].filter(width => width > wide),
  };
}"""
# what a reader sees or hears
ACCESS = """() => {
  const all = s => [...document.querySelectorAll(s)];
  const seen = e => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== 'hidden';
  const say = e => (e.outerHTML.match(/^<[^>]*>/)?.[0] ?? '').slice(0, 120);
  const name = e => (e.getAttribute('aria-label') ?? '').trim() || e.textContent.trim() || e.title
    || e.querySelector('img[alt]:not([alt=""]), svg[aria-label], svg title') || e.labels?.length
    || e.getAttribute('aria-labelledby');
  // headings of the article alone: the theme's own are outside it
  const levels = all('article.bd-article :is(h1, h2, h3, h4, h5, h6)')
    .filter(h => seen(h) || h.closest('details')).map(h => [Number(h.tagName[1]), h.textContent.trim()]);
  const ids = all('article.bd-article [id]').map(e => e.id)
    .filter(id => !['proof', 'proof-content'].includes(id));  // sphinx-proof gives them to every proof
  return {
    language: document.documentElement.lang ? [] : ['<html> has no lang'],
    title: document.title.trim() ? [] : ['no title'],
    landmark: all('main').length === 1 ? [] : [`${all('main').length} elements <main>`],
    headings: [
      ...levels.filter(([level]) => level === 1).length === 1 ? [] : ['not exactly one <h1>'],
      ...levels.filter(([level], i) => i && level > levels[i - 1][0] + 1)
        .map(([level, text]) => `h${level} skips a level: ${text}`),
    ],
    names: all('main :is(a[href], button, summary, input, select)').filter(e => seen(e) && !name(e)).map(say),
    sizes: all('article.bd-article img')
      .filter(i => !i.style.width && !(i.getAttribute('width') && i.getAttribute('height'))).map(say),
    tables: all('article.bd-article table').filter(t => t.rows.length > 1 && !t.querySelector('th')).map(say),
    doubled: ids.filter((id, i) => ids.indexOf(id) !== i),
  };
}"""
# of what our own style sheets colour; a background that lets through is blended with those behind it
COLOURS = """selector => [...document.querySelectorAll(selector)].filter(e => e.getClientRects().length)
.map(e => {
  const parse = c => { const v = c.match(/[\\d.]+/g).map(Number); return [...v.slice(0, 3), v[3] ?? 1]; };
  const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const layers = [];
  for (let at = e; at; at = at.parentElement) layers.unshift(parse(getComputedStyle(at).backgroundColor));
  const back = layers.reduce((under, top) => over(top, under), [255, 255, 255, 1]);
  const light = c => {
    const [r, g, b] = c.slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const pair = [light(over(parse(getComputedStyle(e).color), back)), light(back)].sort((a, b) => b - a);
  return [(e.textContent || e.name).trim().slice(0, 40), (pair[0] + 0.05) / (pair[1] + 0.05)];
})"""
OURS = (
    "a.count, a.count .verdict, .ledger-filter :is(label, select, input, button, output), "
    ".verdict, .take-along a, .rerun summary, .rerun td, .rerun th, table.sortable th"
)
# What is wider than its box, among what is in sight. On a phone two things may be, where they scroll inside
# their own box, so that nothing of them is out of reach: what a cell printed, whose columns stand below each
# other, and a formula that would be unreadably small.
CUT = """() => {
  const seen = e => e.getClientRects().length > 0;
  const say = e => (e.querySelector('annotation') ?? e).textContent.trim().replace(/\\s+/g, ' ').slice(0, 70);
  const wider = (e, by) => e.scrollWidth > e.clientWidth + by;
  const desk = innerWidth > 600;
  const scrolls = e => !desk && ['auto', 'scroll'].includes(getComputedStyle(e).overflowX);
  const found = selector => [...document.querySelectorAll('article.bd-article ' + selector)].filter(seen);
  const broken = [];
  const range = document.createRange();
  for (const cell of found('table.fixed :is(td, th)')) {
    const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      if (walk.currentNode.parentElement.closest('mjx-container, code, .math')) continue;
      for (const { 0: word, index } of walk.currentNode.data.matchAll(/[A-Za-z]{2,}/g)) {
        range.setStart(walk.currentNode, index);
        range.setEnd(walk.currentNode, index + word.length);
        if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1) broken.push(word);
      }
    }
  }
  return {
    code: found('div.highlight pre').filter(e => !e.closest('.output') && wider(e, 2)).map(say),
    output: found('.cell_output .output pre').filter(e => wider(e, 2) && !scrolls(e)).map(say),
    table: found('table').filter(e => e.offsetWidth > e.parentElement.clientWidth + 2).map(say),
    formula: found('div.math').filter(e => wider(e, 3) || [...e.querySelectorAll('mjx-container')]
      .some(m => wider(m, 3) && !(m.matches('.smallest') && scrolls(m)))).map(say),
    'formula in a line': found('span.math mjx-container:not([display])').filter(e => {
      let box = e.closest('span.math').parentElement;
      while (!box.clientWidth) box = box.parentElement;
      const edge = box.getBoundingClientRect().right - parseFloat(getComputedStyle(box).paddingRight);
      return e.checkVisibility() && e.getBoundingClientRect().right > edge + 2;
    }).map(say),
    'broken word': broken,
  };
}"""
# the place of the first picture as a reader finds the page: with what can be run again still folded
PICTURE = """() => {
  const folded = [...document.querySelectorAll('.rerun[open]')];
  for (const box of folded) box.open = false;
  const tops = [...document.querySelectorAll('article.bd-article img')]
    .map(i => i.getBoundingClientRect().top + scrollY);
  for (const box of folded) box.open = true;
  return tops.length ? Math.min(...tops) : null;
}"""
BARE = """() => [...document.querySelectorAll('article.bd-article .cell_output img')]
  .filter(i => !i.closest('figure')?.querySelector('figcaption')?.textContent.trim())
  .map(i => i.alt.slice(0, 60))"""
