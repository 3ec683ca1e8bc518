import type { ConfigIssue } from '../../contract/diagnostic.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { adviceForUnknown } from '../../schemas/language/suggest.ts';
import { itemPath, memberPath } from './json-path.ts';
import { quote } from './quote.ts';

/** Where findings go: a mistake stops the configuration, a warning does not. */
export interface Findings {
  readonly mistakes: ConfigIssue[];
  readonly warnings: ConfigIssue[];
}

/** A value of a configuration file together with its place; what is wrong with it is reported with that place. */
export class Cursor {
  readonly file: string;
  readonly path: string;
  /** Undefined: the member is absent. */
  readonly json: Json | undefined;
  readonly #findings: Findings;

  constructor(file: string, path: string, json: Json | undefined, findings: Findings) {
    this.file = file;
    this.path = path;
    this.json = json;
    this.#findings = findings;
  }

  issue(message: string, advice: string): void {
    this.#findings.mistakes.push({ file: this.file, path: this.path, message, advice });
  }

  warning(message: string, advice: string): void {
    this.#findings.warnings.push({ file: this.file, path: this.path, message, advice });
  }

  /** Reports members that are not `known`. False with an issue when the value is no object: then look no further. */
  hasMembers(known: readonly string[]): boolean {
    if (!isJsonObject(this.json)) {
      this.issue(`must be an object, is ${kindOf(this.json)}`, `Its members are ${known.join(', ')}.`);
      return false;
    }
    for (const name of Object.keys(this.json)) {
      if (known.includes(name)) continue;
      this.member(name).issue(`unknown key ${quote(name)}`, adviceForUnknown(name, known));
    }
    return true;
  }

  /** The member of an object; absent for any other value. */
  member(name: string): Cursor {
    const json = isJsonObject(this.json) && Object.hasOwn(this.json, name) ? this.json[name] : undefined;
    return new Cursor(this.file, memberPath(this.path, name), json, this.#findings);
  }

  /** The items of a list; none when it is absent, and an issue when it is something else. */
  items(): Cursor[] {
    if (this.json === undefined) return [];
    if (!Array.isArray(this.json)) {
      this.issue(`must be a list, is ${kindOf(this.json)}`, 'Put it in [ ].');
      return [];
    }
    return this.json.map(
      (item, index) => new Cursor(this.file, itemPath(this.path, index), item, this.#findings),
    );
  }

  /** A text that is not empty, or null with an issue. */
  text(): string | null {
    if (typeof this.json === 'string' && this.json !== '') return this.json;
    const found = this.json === '' ? 'empty' : kindOf(this.json);
    this.issue(`must be a text, is ${found}`, 'Write a text in double quotes.');
    return null;
  }

  /** As `text`; absent gives `absent` without an issue. */
  optionalText(absent: string): string {
    return this.json === undefined ? absent : (this.text() ?? absent);
  }

  optionalBoolean(absent: boolean): boolean {
    if (this.json === undefined) return absent;
    if (typeof this.json === 'boolean') return this.json;
    this.issue(`must be true or false, is ${kindOf(this.json)}`, 'Write true or false without quotes.');
    return absent;
  }
}

function kindOf(json: Json | undefined): string {
  if (json === undefined) return 'missing';
  if (json === null) return 'null';
  if (Array.isArray(json)) return 'a list';
  if (typeof json === 'object') return 'an object';
  // Only the kind: what stands here may be a key.
  return typeof json === 'string' ? 'a text' : `a ${typeof json}`;
}
