/** The text of HTML, as a reader sees it (docs/reference/indexes-and-queries.md "Words of a field"). */
import { createRequire } from 'node:module';
import type { TokenizerCallbacks } from 'htmlparser2';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';

/** Elements without words. */
const hidden = new Set(['script', 'style', 'template']);

/** Elements that break lines: blocks, list items and table parts in the HTML standard, and `br`. */
const blocks = new Set(
  (
    'address article aside blockquote body br caption center col colgroup dd details dialog dir div dl dt fieldset ' +
    'figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li listing main menu nav ol ' +
    'optgroup option p plaintext pre search section summary table tbody td tfoot th thead title tr ul xmp'
  ).split(' '),
);

type Package = typeof import('htmlparser2');
let loaded: Package | null = null;

/** The package is loaded with the first HTML text. */
function loadedPackage(): Package {
  const load: (name: string) => unknown = createRequire(import.meta.url);
  loaded ??= load('htmlparser2') as Package;
  return loaded;
}

/** Long text is parsed in chunks of this size. */
const pieceUnits = 16_384;
/** The cost of parsing a character, in units of the work budget. */
const unitsPerUnit = 10;

/**
 * Removes tags, in steps: entities are decoded, and blocks separated by a space. It only uses the tokenizer, because the
 * parser keeps a stack of open elements, which makes each tag slower with its depth.
 */
export function* textOfHtml(html: string): Steps<string> {
  if (!/[<&]/.test(html)) return html;
  const reader = new TextReader(html);
  const { Tokenizer } = loadedPackage();
  const tokenizer = new Tokenizer({ decodeEntities: true }, reader);
  for (let from = 0; from < html.length; from += pieceUnits) {
    const piece = html.slice(from, from + pieceUnits);
    tokenizer.write(piece);
    workBudget.units += unitsPerUnit * piece.length;
    if (workBudget.isOver()) yield;
  }
  tokenizer.end();
  return reader.text;
}

class TextReader implements TokenizerCallbacks {
  text = '';
  /** A block started or ended since the last text. */
  #isAtBoundary = true;
  /** The open hidden element, and how many elements of that name are open. */
  #hidden = { name: '', depth: 0 };

  constructor(private readonly html: string) {}

  onopentagname(start: number, end: number): void {
    const name = this.html.slice(start, end).toLowerCase();
    if (this.#hidden.depth === 0) {
      if (hidden.has(name)) this.#hidden = { name, depth: 1 };
      else if (blocks.has(name)) this.#isAtBoundary = true;
    } else if (name === this.#hidden.name) this.#hidden.depth += 1;
  }

  onclosetag(start: number, end: number): void {
    const name = this.html.slice(start, end).toLowerCase();
    if (this.#hidden.depth === 0) this.#isAtBoundary ||= blocks.has(name);
    else if (name === this.#hidden.name) this.#hidden.depth -= 1;
  }

  ontext(start: number, end: number): void {
    if (this.#hidden.depth === 0) this.#write(this.html.slice(start, end));
  }

  ontextentity(codePoint: number): void {
    if (this.#hidden.depth === 0) this.#write(String.fromCodePoint(codePoint));
  }

  #write(text: string): void {
    if (!this.#isAtBoundary) {
      this.text += text;
      return;
    }
    const written = text.replace(/^[ \t\n\f\r]+/, '');
    if (written === '') return;
    this.text += this.text === '' ? written : ` ${written}`;
    this.#isAtBoundary = false;
  }

  onattribdata(): void {}
  onattribentity(): void {}
  onattribend(): void {}
  onattribname(): void {}
  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onend(): void {}
  onopentagend(): void {}
  onprocessinginstruction(): void {}
  onselfclosingtag(): void {}
}
