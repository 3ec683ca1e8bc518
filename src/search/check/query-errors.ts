import type { Json } from '../../contract/json.ts';
import { excerpt } from '../../lib/message-text.ts';

const quotedCharactersMax = 100;
/** Maximum number of reported errors. */
const errorsMax = 1000;

/** The errors of a query, each with its path: `filters.and[0].operator: unknown operator "like"`. */
export class QueryErrors {
  readonly texts: string[] = [];
  readonly #members = new Set<string>();
  #count = 0;

  /** Number of all errors, including unreported ones. */
  get count(): number {
    return this.#count;
  }

  /** True if further errors will not be reported. */
  get isFull(): boolean {
    return this.texts.length === errorsMax;
  }

  add(place: string, text: string): void {
    this.#count += 1;
    this.#members.add(/^\w*/.exec(place)?.[0] ?? '');
    if (this.texts.length < errorsMax) this.texts.push(`${place}: ${text}`);
  }

  /** True if a member of the query has an error at any depth. */
  isIn(member: string): boolean {
    return this.#members.has(member);
  }
}

/** The value as JSON, truncated. */
export function quote(value: Json | undefined): string {
  const text = JSON.stringify(
    typeof value === 'string' ? value.slice(0, quotedCharactersMax) : shallow(value),
  );
  return text.length > quotedCharactersMax + 2 ? excerpt(text, quotedCharactersMax) : text;
}

function shallow(value: Json | undefined): Json {
  if (Array.isArray(value)) return '[…]';
  return typeof value === 'object' && value !== null ? '{…}' : (value ?? null);
}
