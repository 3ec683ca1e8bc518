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
import type { Tokens } from 'marked';
import { Document, LinkCheck, textOf } from './document.ts';
import { navigationOf, pageHtml } from './page.ts';

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
