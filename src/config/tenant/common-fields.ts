/** Readers of fields that several parts of a tenant file share: ids, aliases, references by name, API keys. */

import type { Cursor } from '../../contract/config-cursor.ts';
import type { WholeNumberShape } from '../../contract/document-shape.ts';
import { isAlias } from '../../contract/ids.ts';
import { apiKeyCharactersMax, configNameCharactersMax } from '../../contract/limits.ts';
import { quote } from '../../lib/message-text.ts';
import { adviceForUnknown } from '../../lib/suggest.ts';
import { isId } from '../document-path.ts';
import { type ConfiguredKey, hashedForm } from './api-keys.ts';

const keyAdvice =
  `Write the key itself (visible ASCII characters without spaces, at most ${apiKeyCharactersMax}) ` +
  'or "sha256:" and 64 hex digits.';

/** Null with an issue if the value is invalid. */
export function readId(at: Cursor): string | null {
  const text = at.nonEmptyString();
  if (text === null || isId(text)) return text;
  at.issue(`${quote(text)} is not an id`, nameAdvice('-, _ and .'));
  return null;
}

/** Null with an issue if the value is invalid. */
export function readAlias(at: Cursor): string | null {
  const text = at.nonEmptyString();
  if (text === null || isAlias(text)) return text;
  at.issue(`${quote(text)} is not an alias`, nameAdvice('- and _'));
  return null;
}

/** @param marks the characters that a name may contain besides letters and digits */
export function nameAdvice(marks: string): string {
  return `Use letters, digits, ${marks}; at most ${configNameCharactersMax} characters.`;
}

/** The entry that a field refers to by name; null with an issue if there is none. */
export function readNamed<T>(at: Cursor, names: EntriesByName<T>): T | null {
  const name = at.nonEmptyString();
  return name === null ? null : names.find(name, at);
}

/** One of several words; null with an issue if it is another one. @param kind for messages */
export function readChoice<Choice extends string>(
  at: Cursor,
  kind: string,
  choices: readonly Choice[],
): Choice | null {
  return readNamed(
    at,
    new EntriesByName<Choice>(
      kind,
      choices.map((choice) => [choice, choice]),
    ),
  );
}

/** RFC 9110, section 5.6.2. */
export function isHeaderName(text: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text);
}

/** Visible ASCII with inner spaces and no line breaks, which all HTTP software passes on unchanged (RFC 9110, section 5.5). */
export function isHeaderValue(text: string): boolean {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text);
}

/** The hashed API keys of a list, with an issue for each invalid key. */
export function readKeys(list: Cursor): ConfiguredKey[] {
  return list.items().flatMap((at) => {
    const text = at.nonEmptyString();
    if (text === null) return [];
    const hash = hashedForm(text);
    // The message must not show the key: it may be a secret with a typo.
    if (hash === null) at.issue('not an API key', keyAdvice);
    return hash === null ? [] : [{ hash, at: { file: at.file, path: at.path } }];
  });
}

/** Returns the default if there is no value; also, with an issue, if the value is not a whole number within the limits. */
export function readWholeNumber<T>(at: Cursor, shape: WholeNumberShape, defaultValue: T): number | T {
  const { minimum, maximum } = shape;
  const { json } = at;
  if (json === undefined) return defaultValue;
  if (typeof json === 'number' && Number.isInteger(json) && json >= minimum && json <= maximum) return json;
  at.issue(`must be a whole number from ${minimum} to ${maximum}`, 'Write it without quotes.');
  return defaultValue;
}

/** Entries of one kind by name, for references from elsewhere. The first entry with a name keeps it. */
export class EntriesByName<T> extends Map<string, T> {
  readonly #kind: string;
  readonly #cursors = new Map<string, Cursor>();

  /** @param kind the kind of entry, for messages: `source group` */
  constructor(kind: string, entries: Iterable<readonly [string, T]> = []) {
    super(entries);
    this.#kind = kind;
  }

  add(name: string, entry: T, at: Cursor): void {
    const first = this.#cursors.get(name);
    if (first !== undefined) {
      at.issue(
        `${this.#kind} ${quote(name)} appears twice`,
        `${first.path} has it too: rename or remove one of them.`,
      );
      return;
    }
    this.#cursors.set(name, at);
    this.set(name, entry);
  }

  /** The entry with that name; null with an issue at `at` if there is none. */
  find(name: string, at: Cursor): T | null {
    const entry = this.get(name);
    if (entry !== undefined) return entry;
    at.issue(`unknown ${this.#kind} ${quote(name)}`, () => adviceForUnknown(name, this.keys()));
    return null;
  }
}
