/** The layout of a page: head, search, navigation and document. */
import path from 'node:path';
import type { Token, Tokens } from 'marked';
import { type Document, escapeHtml, relative, textOf } from './document.ts';

interface NavigationGroup {
  readonly title: string;
  readonly pages: readonly Document[];
}

/** A page with fewer headings has no table of contents. */
const contentsMin = 4;

/** The pages under each heading of the index, in order; a page that is linked twice is listed once. */
export function navigationOf(
  documents: ReadonlyMap<string, Document>,
  indexFile: string,
): readonly NavigationGroup[] {
  const index = documents.get(indexFile);
  if (index === undefined) return [];
  const seen = new Set<Document>();
  const groups: { title: string; pages: Document[] }[] = [];
  for (const token of index.tokens) {
    if (token.type === 'heading' && token.depth === 2)
      groups.push({ title: textOf(token.tokens ?? []), pages: [] });
    for (const target of targetsIn(token)) {
      const file = path.posix.join(path.posix.dirname(indexFile), target.split('#')[0] ?? '');
      const page = documents.get(file);
      if (page === undefined || seen.has(page)) continue;
      groups.at(-1)?.pages.push(page);
      if (groups.length > 0) seen.add(page);
    }
  }
  return groups;
}

function targetsIn(token: Token): string[] {
  if (token.type === 'link') return [String(token.href)];
  if (token.type === 'table') {
    const { rows } = token as Tokens.Table;
    return rows.flat().flatMap(({ tokens }) => tokens.flatMap(targetsIn));
  }
  const children =
    token.type === 'list' ? (token as Tokens.List).items : 'tokens' in token ? token.tokens : [];
  return (children ?? []).flatMap(targetsIn);
}

export function pageHtml(page: Document, body: string, navigation: readonly NavigationGroup[]): string {
  const to = (address: string) => relative(page.address, address);
  const title = page.file === 'README.md' ? 'Millrace' : `${page.title} · Millrace`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${to('site.css')}">
<script type="module" src="${to('search.js')}"></script>
</head>
<body data-root="${to('index.html').replace(/index\.html$/, '')}">
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="home" href="${to('index.html')}">Millrace</a>
<search><input type="search" aria-label="Search the documentation" placeholder="Search" autocomplete="off" aria-controls="results"></search>
</header>
<div id="results" role="region" aria-label="Search results" hidden></div>
<div class="frame">
<nav aria-label="Pages"><details><summary>All pages</summary>
${navigation.map((group) => groupHtml(group, page, to)).join('\n')}
</details></nav>
<main id="content">
${withContents(body, page)}
</main>
</div>
</body>
</html>
`;
}

function groupHtml(
  { title, pages }: NavigationGroup,
  page: Document,
  to: (address: string) => string,
): string {
  const items = pages.map((one) => {
    const current = one === page ? ' aria-current="page"' : '';
    return `<li><a href="${to(one.address)}"${current}>${escapeHtml(one.title)}</a></li>`;
  });
  return `<h2>${escapeHtml(title)}</h2>\n<ul>${items.join('')}</ul>`;
}

/** Inserts a table of contents below the title. */
function withContents(body: string, { headings }: Document): string {
  const sections = headings.filter(({ depth }) => depth === 2);
  if (sections.length < contentsMin) return body;
  const items = sections.map(({ anchor, text }) => `<li><a href="#${anchor}">${escapeHtml(text)}</a></li>`);
  const contents = `<details class="contents"><summary>On this page</summary><ul>${items.join('')}</ul></details>`;
  return body.replace('</h1>', () => `</h1>\n${contents}`);
}
