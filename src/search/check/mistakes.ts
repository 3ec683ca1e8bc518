import type { Json } from '../../contract/json.ts';

const quotedCharactersMax = 100;
/** The first so many mistakes are told. */
const mistakesMax = 1000;

/** The mistakes of one query, each with its place: `filters.and[0].operator: unknown operator "like"`. */
export class Mistakes {
  readonly texts: string[] = [];
  readonly #members = new Set<string>();
  #count = 0;

  /** All errors, including those beyond the reported ones. */
  get count(): number {
    return this.#count;
  }

  /** True when no further mistake is reported. */
  get isFull(): boolean {
    return this.texts.length === mistakesMax;
  }

  add(place: string, text: string): void {
    this.#count += 1;
    this.#members.add(/^\w*/.exec(place)?.[0] ?? '');
    if (this.texts.length < mistakesMax) this.texts.push(`${place}: ${text}`);
  }

  /** True when a member of the query has a mistake, however deep. */
  isIn(member: string): boolean {
    return this.#members.has(member);
  }
}

/** The value as it was sent. A long value is cut. */
export function quote(value: Json | undefined): string {
  const text = JSON.stringify(
    typeof value === 'string' ? value.slice(0, quotedCharactersMax) : shallow(value),
  );
  return text.length > quotedCharactersMax + 2 ? `${text.slice(0, quotedCharactersMax)}…` : text;
}

function shallow(value: Json | undefined): Json {
  if (Array.isArray(value)) return '[…]';
  return typeof value === 'object' && value !== null ? '{…}' : (value ?? null);
}
