/**
 * A Markdown file: its headings with anchors, its links with line numbers, and its HTML. Links to files of the repository
 * become links between pages; broken links are reported.
 */
import path from 'node:path';
import { Marked, type Token, type Tokens } from 'marked';

export interface Heading {
  readonly depth: number;
  readonly text: string;
  readonly anchor: string;
}

/** A link or an image. */
export interface DocumentLink {
  readonly target: string;
  /** Starts at 1. */
  readonly line: number;
}

/** Returns the URL of a link on the site. */
export type AddressOf = (link: DocumentLink) => string;

/** The tags of `<a id="former-name"></a>` above a renamed heading. */
const formerAnchor = /^<(?:a id="[\w-]+"|\/a)>$/;

export class Document {
  /** URL of its page, relative to the site. */
  readonly address: string;
  readonly tokens: readonly Token[];
  readonly headings: readonly Heading[];
  readonly #anchors = new Map<Token, string>();
  readonly #lines = new Map<Token, number>();

  /** @param file relative to the repository, with forward slashes */
  constructor(
    readonly file: string,
    markdown: string,
  ) {
    this.address = addressOfFile(file);
    const marked = new Marked();
    this.tokens = marked.lexer(markdown);
    let line = 1;
    for (const token of this.tokens) {
      this.#number(token, line);
      line += linesIn(token.raw);
    }
    this.headings = this.#headings();
  }

  get title(): string {
    return this.headings[0]?.text ?? this.file;
  }

  hasAnchor(anchor: string): boolean {
    return this.headings.some((heading) => heading.anchor === anchor);
  }

  anchorOf(token: Token): string {
    return this.#anchors.get(token) ?? '';
  }

  html(addressOf: AddressOf): string {
    const address = (token: Tokens.Link | Tokens.Image) =>
      escapeHtml(addressOf({ target: token.href, line: this.#lines.get(token) ?? 1 }));
    const anchors = this.#anchors;
    const marked = new Marked({
      renderer: {
        heading(token) {
          const anchor = anchors.get(token) ?? '';
          const text = this.parser.parseInline(token.tokens);
          return `<h${token.depth} id="${anchor}"><a class="anchor" href="#${anchor}">${text}</a></h${token.depth}>\n`;
        },
        code({ text, lang }) {
          const language = lang === undefined ? '' : ` class="language-${escapeHtml(lang)}"`;
          return `<pre tabindex="0"><code${language}>${escapeHtml(text)}\n</code></pre>\n`;
        },
        link(token) {
          return `<a href="${address(token)}">${this.parser.parseInline(token.tokens)}</a>`;
        },
        image(token) {
          return `<img src="${address(token)}" alt="${escapeHtml(token.text)}">`;
        },
        // Comments are only for the tests of the documents. Other HTML than former anchors is shown as text.
        html(token) {
          if (formerAnchor.test(token.text)) return token.text;
          return token.text.startsWith('<!--') ? '' : escapeHtml(token.text);
        },
        table(token) {
          const cells = (row: readonly Tokens.TableCell[], tag: 'th' | 'td') =>
            `<tr>${row.map(({ tokens, align }) => `<${tag}${align === null ? '' : ` class="${align}"`}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
          const body = token.rows.map((row) => cells(row, 'td')).join('\n');
          return `<div class="table" tabindex="0"><table><thead>${cells(token.header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`;
        },
      },
    });
    return marked.parser([...this.tokens]);
  }

  /** Records the line of a token and of all tokens inside. */
  #number(token: Token, line: number): void {
    this.#lines.set(token, line);
    let from = 0;
    for (const child of childrenOf(token)) {
      const at = token.raw.indexOf(child.raw, from);
      this.#number(child, line + (at < 0 ? 0 : linesIn(token.raw.slice(0, at))));
      if (at >= 0) from = at + child.raw.length;
    }
  }

  #headings(): Heading[] {
    const used = new Set<string>();
    return this.tokens.flatMap((token) => {
      if (token.type !== 'heading') return [];
      const text = textOf(token.tokens ?? []);
      const anchor = uniqueAnchor(text, used);
      this.#anchors.set(token, anchor);
      return [{ depth: Number(token.depth), text, anchor }];
    });
  }
}

/** `README.md` is the home page; the README of a folder is the page of the folder. */
function addressOfFile(file: string): string {
  if (file === 'README.md') return 'index.html';
  return file.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html');
}

function linesIn(text: string): number {
  return text.split('\n').length - 1;
}

function childrenOf(token: Token): readonly Token[] {
  if (token.type === 'list') return (token as Tokens.List).items;
  if (token.type !== 'table') return ('tokens' in token ? token.tokens : undefined) ?? [];
  return cellsOf(token as Tokens.Table).flatMap((cell) => cell.tokens);
}

function cellsOf({ header, rows }: Tokens.Table): Tokens.TableCell[] {
  return [header, ...rows].flat();
}

/** The text of tokens without markup. */
export function textOf(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'table')
        return `${cellsOf(token as Tokens.Table)
          .map(({ tokens }) => textOf(tokens))
          .join(' ')} `;
      const children = childrenOf(token);
      if (children.length > 0) return textOf(children) + (token.type === 'text' ? '' : separator(token));
      if (token.type === 'html' || token.type === 'image') return '';
      return 'text' in token ? unescaped(String(token.text)) + separator(token) : ' ';
    })
    .join('');
}

function separator({ type }: Token): string {
  return ['paragraph', 'list_item', 'list', 'code', 'heading'].includes(type) ? ' ' : '';
}

/** The anchor of a heading, as on GitHub. */
function uniqueAnchor(heading: string, used: Set<string>): string {
  const anchor = heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
  let unique = anchor;
  for (let number = 1; used.has(unique); number += 1) unique = `${anchor}-${number}`;
  used.add(unique);
  return unique;
}

function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Turns links between files into links between pages, and collects broken links. */
export class LinkCheck {
  /** `file:line: target: what is wrong` */
  readonly errors: string[] = [];
  /** Linked files that are not pages, relative to the repository. */
  readonly files = new Set<string>();
  checked = 0;

  /** @param isFile whether the repository has a file */
  constructor(
    private readonly documents: ReadonlyMap<string, Document>,
    private readonly isFile: (file: string) => boolean,
  ) {}

  /** The URL of a link on the site. Links to other sites are neither changed nor checked. */
  addressOf(from: Document, { target, line }: DocumentLink): string {
    if (/^[a-z]+:/.test(target)) return target;
    this.checked += 1;
    const [name = '', anchor] = target.split('#');
    const file = name === '' ? from.file : path.posix.join(path.posix.dirname(from.file), name);
    const page = this.documents.get(file);
    const error = this.#errorIn(file, page, anchor);
    if (error !== null) this.errors.push(`${from.file}:${line}: ${target}: ${error}`);
    if (page === undefined) this.files.add(file);
    const address = relative(from.address, page?.address ?? file);
    const place = name === '' ? '' : address;
    return anchor === undefined ? place : `${place}#${anchor}`;
  }

  #errorIn(file: string, page: Document | undefined, anchor: string | undefined): string | null {
    if (file.startsWith('..')) return 'the link leads out of the repository';
    if (page === undefined && !this.isFile(file)) return 'no such file';
    if (anchor === undefined) return null;
    if (page === undefined) return 'only a page has headings';
    return page.hasAnchor(anchor) ? null : 'no such heading';
  }
}

/** The relative URL from one page to another. */
export function relative(from: string, to: string): string {
  return path.posix.relative(path.posix.dirname(from), to);
}
