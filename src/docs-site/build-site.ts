/** Builds the site: reads the documents, checks their links, and writes pages, files, styles and the search index. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Token, Tokens } from 'marked';
import { Document, escapeHtml, LinkCheck, relative, textOf } from './document.ts';

/** Why the site cannot be built. Broken links are listed one per line, each with file and line. */
export class DocsError extends Error {}

const ownFolder = fileURLToPath(new URL('./', import.meta.url));
/** Lists all pages by task; determines the navigation. */
const indexFile = 'docs/README.md';
const outsideDocs = ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'bench/README.md'];

/**
 * @param folder emptied first; it must be empty or contain an earlier site
 * @throws DocsError before anything is written
 */
export async function buildSite(root: string, folder: string): Promise<{ pages: number; links: number }> {
  const documents = new Map(
    [...outsideDocs, ...docsFiles(root)].map((file) => [
      file,
      new Document(file, readFileSync(path.join(root, file), 'utf8')),
    ]),
  );
  const isFile = (file: string) =>
    existsSync(path.join(root, file)) && statSync(path.join(root, file)).isFile();
  const check = new LinkCheck(documents, isFile);
  const navigation = navigationOf(documents, indexFile);
  const pages = [...documents.values()].map((document) => ({
    document,
    html: pageHtml(
      document,
      document.html((link) => check.addressOf(document, link)),
      navigation,
    ),
  }));
  if (check.errors.length > 0) throw new DocsError(check.errors.join('\n'));

  requireOurs(folder);
  rmSync(folder, { recursive: true, force: true });
  for (const { document, html } of pages) write(folder, document.address, html);
  for (const file of check.files) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    cpSync(path.join(root, file), path.join(folder, file));
  }
  // In the order of the navigation, because the first of equally good results come first.
  const searched = new Set([...navigation.flatMap((group) => group.pages), ...documents.values()]);
  write(folder, 'search.json', JSON.stringify(searchSections([...searched])));
  cpSync(path.join(ownFolder, 'browser/site.css'), path.join(folder, 'site.css'));
  await build({
    entryPoints: [path.join(ownFolder, 'browser/search.mjs')],
    outfile: path.join(folder, 'search.js'),
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
  });
  return { pages: pages.length, links: check.checked };
}

/** Protects other folders from being deleted by mistake. */
function requireOurs(folder: string): void {
  if (!existsSync(folder)) return;
  const names = readdirSync(folder);
  if (names.length === 0 || names.includes('search.json')) return;
  throw new DocsError(`${folder} has files of something else. Choose an empty folder.`);
}

function docsFiles(root: string): string[] {
  return readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file.split(path.sep).join('/')}`)
    .sort();
}

function write(folder: string, name: string, text: string): void {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** An entry of the site's search index: the text below a heading. */
export interface SearchSection {
  readonly page: string;
  readonly heading: string;
  /** URL relative to the site. */
  readonly address: string;
  /** The first column of its tables, such as names of settings. */
  readonly names: string;
  readonly text: string;
}

function searchSections(documents: readonly Document[]): SearchSection[] {
  return documents.flatMap((document) => {
    const sections: { page: string; heading: string; address: string; names: string; text: string }[] = [];
    for (const token of document.tokens) {
      if (token.type === 'heading') {
        const anchor = document.anchorOf(token);
        const address = `${document.address}${sections.length === 0 ? '' : `#${anchor}`}`;
        sections.push({
          page: document.title,
          heading: textOf(token.tokens ?? []).trim(),
          address,
          names: '',
          text: '',
        });
        continue;
      }
      const section = sections.at(-1);
      if (section === undefined) continue;
      section.text += `${textOf([token])} `;
      if (token.type !== 'table') continue;
      for (const [cell] of (token as Tokens.Table).rows) section.names += `${textOf(cell?.tokens ?? [])} `;
    }
    return sections.map((section) => ({ ...section, text: section.text.replaceAll(/\s+/g, ' ').trim() }));
  });
}

interface NavigationGroup {
  readonly title: string;
  readonly pages: readonly Document[];
}

/** A page with fewer headings has no table of contents. */
const contentsMin = 4;

/** The pages under each heading of the index, in order; a page that is linked twice is listed once. */
function navigationOf(
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

/** Head, search, navigation and document. */
function pageHtml(page: Document, body: string, navigation: readonly NavigationGroup[]): string {
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
