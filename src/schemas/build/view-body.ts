import type { ViewRef } from '../../contract/ids.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { largeJsonCharacters, parsed } from '../../contract/large-json/parse-in-parts.ts';
import { stringified } from '../../contract/large-json/stringify-in-parts.ts';
import { viewCharactersMax } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { chain, type Resumable, workBudget } from '../../lib/cooperative-yield.ts';
import { flat } from '../../lib/flat.ts';
import type { Build } from './build.ts';
import type { BuiltItem, ReferencePiece, ViewBody } from './build-outcome.ts';

/**
 * The text is flattened in pieces of this many characters. Otherwise millions of concatenations would be flattened at once at
 * the end.
 */
const pieceCharacters = 65_536;

/** Writes the JSON text of a view, split at its references. Callers are responsible for valid JSON. */
export class BodyWriter {
  readonly #build: Build;
  readonly #texts: string[] = [];
  readonly #references: ReferencePiece[] = [];
  readonly #path: string[] = [];
  /** The text between the last reference and `#text`. */
  #pieces: string[] = [];
  #text = '';
  #length = 0;

  constructor(build: Build) {
    this.#build = build;
  }

  /** True once the limit is exceeded: loops (array elements, partials) must then stop. */
  get isFull(): boolean {
    return this.#length > viewCharactersMax;
  }

  /** Writes the syntax between values: braces, commas, names of the schema. */
  mark(text: string): void {
    this.#length += text.length;
    this.#write(text);
  }

  /** Writes a value, or null if the view would exceed its limit. */
  value(json: string): void {
    this.#write(this.#take(json.length) ? json : 'null');
  }

  /** As `value`, for a value that may be large. */
  copy(value: Json): Resumable<void> {
    if (this.isFull) return this.value('null');
    return chain(this.copied(value), (json) => this.value(json));
  }

  /** JSON text of a value that may be large. */
  copied(value: Json): Resumable<string> {
    return this.#build.isLarge ? stringified(value) : JSON.stringify(value);
  }

  /** Writes `before`, a member's name and its value, or nothing if they do not fit. */
  member(before: string, name: string, json: string): boolean {
    const text = `${before}${JSON.stringify(name)}:${json}`;
    if (!this.#take(text.length)) return false;
    this.#write(text);
    return true;
  }

  /** Appends a step to the current path: `.author`, `[1]`. Only needed where references may follow. */
  enter(step: string): void {
    this.#path.push(step);
  }

  leave(): void {
    this.#path.pop();
  }

  reference({ target, viewId }: Pick<ReferencePiece, 'target' | 'viewId'>): void {
    if (!this.#take(charactersOf(target) + (viewId?.length ?? 0))) {
      this.#write('null');
      return;
    }
    this.#texts.push(this.#takeText());
    this.#references.push({ target, viewId, path: this.#path.join('') });
  }

  finish(): ViewBody {
    this.#texts.push(this.#takeText());
    return { texts: this.#texts, references: this.#references };
  }

  #write(text: string): void {
    workBudget.units += text.length;
    this.#text += text;
    if (this.#text.length < pieceCharacters) return;
    this.#pieces.push(flat(this.#text));
    this.#text = '';
  }

  /** The text after the last reference. */
  #takeText(): string {
    const text = this.#pieces.length === 0 ? this.#text : this.#pieces.join('') + this.#text;
    this.#pieces = [];
    this.#text = '';
    return text;
  }

  #take(characters: number): boolean {
    this.#length += characters;
    if (!this.isFull) return true;
    const message = `the view has more than ${viewCharactersMax} characters; what did not fit is null or left out`;
    this.#build.limitReached('$', message);
    return false;
  }
}

function charactersOf(target: ViewRef | null): number {
  return target === null ? 0 : target.sourceId.length + target.alias.length + target.originId.length;
}

/** Writes the JSON of an index item. References, from partials, are written as null. */
export class ItemWriter extends BodyWriter {
  /** Members can have numbers as names, which `JSON.parse` moves to the front. */
  #hasMembers = false;

  override member(before: string, name: string, json: string): boolean {
    this.#hasMembers = true;
    return super.member(before, name, json);
  }

  override reference(): void {
    this.value('null');
  }

  /** The item with the written fields. */
  item(build: Build): Resumable<BuiltItem> {
    const text = this.finish().texts.join('');
    return chain(parsed(text), (fields) => {
      assert(isJsonObject(fields), 'properties make an object');
      const isLarge = text.length > largeJsonCharacters;
      return { fields, text: this.#hasMembers ? null : text, isLarge, ...build.outcome() };
    });
  }
}
