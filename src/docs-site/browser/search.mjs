/** The search field of the documentation. Finds sections with all words: in the heading first, then in names, then in the text. */
import { Index } from 'flexsearch';

const resultsMax = 12;
const excerptCharacters = 140;
const root = document.body.dataset.root ?? '';
const field = document.querySelector('input[type=search]');
const results = document.getElementById('results');

/** Set by the first search. */
let loading = null;

async function load() {
  const sections = await (await fetch(`${root}search.json`)).json();
  const headings = new Index({ tokenize: 'forward' });
  const names = new Index({ tokenize: 'forward' });
  const texts = new Index({ tokenize: 'forward' });
  sections.forEach((section, id) => {
    const { page, heading, text } = section;
    headings.add(id, `${heading} ${page}`);
    names.add(id, section.names);
    texts.add(id, `${heading} ${text}`);
  });
  return { sections, indexes: [headings, names, texts] };
}

async function show() {
  const query = field.value.trim();
  loading ??= load();
  const { sections, indexes } = await loading;
  // The query has changed while the index was loading.
  if (query !== field.value.trim()) return;
  const limit = resultsMax;
  const ids = new Set(indexes.flatMap((index) => index.search(query, { limit })));
  const items = [...ids].slice(0, limit).map((id) => item(sections[id], query));
  results.replaceChildren(...(items.length > 0 ? items : [message(`Nothing found for ${query}`)]));
  results.hidden = query === '';
}

function item({ page, heading, address, text }, query) {
  const link = document.createElement('a');
  link.href = root + address;
  const title = document.createElement('strong');
  title.textContent = heading === page ? page : `${page}: ${heading}`;
  const excerpt = document.createElement('span');
  excerpt.textContent = excerptOf(text, query);
  link.append(title, excerpt);
  return link;
}

/** The text around the first word of the query. */
function excerptOf(text, query) {
  const [word = ''] = query.toLowerCase().split(/\s+/);
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 30);
  const from = at === 0 ? 0 : text.indexOf(' ', at) + 1;
  return `${from === 0 ? '' : '… '}${text.slice(from, from + excerptCharacters)} …`;
}

function message(text) {
  const paragraph = document.createElement('p');
  paragraph.textContent = text;
  return paragraph;
}

field.addEventListener('input', () => void show());
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  }
  if (event.key === 'Escape' && !results.hidden) {
    results.hidden = true;
    field.focus();
  }
});
// After a click on a result too, because it can lead to a heading of the same page.
document.addEventListener('click', ({ target }) => {
  if (target !== field) results.hidden = true;
});

// On wide screens the list of pages is always open.
const wide = matchMedia('(min-width: 60rem)');
const pages = document.querySelector('nav details');
const openWhenWide = () => {
  pages.open = wide.matches;
  const current = pages.querySelector('[aria-current]');
  const box = pages.parentElement;
  if (current !== null) box.scrollTop = current.offsetTop - box.offsetTop - box.clientHeight / 2;
};
wide.addEventListener('change', openWhenWide);
openWhenWide();
