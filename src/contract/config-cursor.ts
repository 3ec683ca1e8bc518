import { quote } from '../lib/message-text.ts';
import { adviceForUnknown } from '../lib/suggest.ts';
import { itemPath, memberPath } from '../lib/text-position.ts';
import type { ConfigIssue } from './diagnostic.ts';
import type { ObjectShape } from './document-shape.ts';
import { getOwn, isJsonObject, type Json, type JsonObject } from './json.ts';
import { configurationFindingsMax } from './limits.ts';

/** Problems found in configuration files. Issues reject the configuration; warnings do not. */
export interface Findings {
  readonly issues: ConfigIssue[];
  readonly warnings: ConfigIssue[];
}

/** Advice on how to fix a problem; a function if it is expensive to compute. */
export type Advice = string | (() => string);

/** A value in a configuration file, with its location, which is reported with each problem. */
export class Cursor {
  /**
   * @param path JSON path inside the file: `$.properties.title`
   * @param json undefined if the file has no value here
   * @param depth nesting depth in the JSON
   */
  constructor(
    readonly file: string,
    readonly path: string,
    readonly json: Json | undefined,
    private readonly findings: Findings,
    readonly depth = 0,
  ) {}

  issue(message: string, advice: Advice): void {
    this.#add(this.findings.issues, message, advice);
  }

  warning(message: string, advice: Advice): void {
    this.#add(this.findings.warnings, message, advice);
  }

  #add(list: ConfigIssue[], message: string, advice: Advice): void {
    const { file, path } = this;
    if (list.length < configurationFindingsMax) {
      list.push({ file, path, message, advice: typeof advice === 'string' ? advice : advice() });
    } else if (list.length === configurationFindingsMax) {
      list.push({ file, path, message: 'further findings are not listed', advice: 'Fix the others first.' });
    }
  }

  get isAbsent(): boolean {
    return this.json === undefined;
  }

  /** The member of an object; absent for any other value. */
  member(name: string): Cursor {
    const json = isJsonObject(this.json) ? getOwn(this.json, name) : undefined;
    return this.#inside(memberPath(this.path, name), json);
  }

  /** The names of an object's members; none for any other value. */
  names(): string[] {
    return isJsonObject(this.json) ? Object.keys(this.json) : [];
  }

  /** The items of a list; none if it is absent, and none with an issue if it is something else. */
  items(what = 'a list', advice = 'Put it in [ ].'): Cursor[] {
    if (this.json === undefined) return [];
    if (Array.isArray(this.json)) {
      return this.json.map((item, index) => this.#inside(itemPath(this.path, index), item));
    }
    this.mustBe(what, advice);
    return [];
  }

  /** The object here; null with an issue if it is not an object. Members that the shape does not have are also issues. */
  object({ properties }: ObjectShape): JsonObject | null {
    const known = Object.keys(properties);
    const json = this.anyObject(`Its members are ${known.join(', ')}.`);
    for (const name of this.names()) {
      if (known.includes(name) || this.#isSchemaName(name)) continue;
      this.member(name).issue(`unknown key ${quote(name)}`, () => adviceForUnknown(name, known));
    }
    return json;
  }

  /** The object here, with any members; null with an issue if it is not an object. */
  anyObject(advice: string): JsonObject | null {
    if (isJsonObject(this.json)) return this.json;
    this.mustBe('an object', advice);
    return null;
  }

  /** The string here, which may be empty; null with an issue if it is not a string. */
  text(advice: string): string | null {
    if (typeof this.json === 'string') return this.json;
    this.mustBe('a string', advice);
    return null;
  }

  /** A nonempty string; null with an issue for anything else. */
  nonEmptyString(): string | null {
    if (this.json !== '') return this.text('Write a string in double quotes.');
    this.issue('must be a string, is empty', 'Write a string in double quotes.');
    return null;
  }

  /** Like `nonEmptyString`, but returns the default, without an issue, if there is no value. */
  optionalString(defaultValue: string): string {
    return this.isAbsent ? defaultValue : (this.nonEmptyString() ?? defaultValue);
  }

  optionalBoolean(defaultValue: boolean): boolean {
    if (this.json === undefined) return defaultValue;
    if (typeof this.json === 'boolean') return this.json;
    this.mustBe('true or false', 'Write true or false without quotes.');
    return defaultValue;
  }

  /** Reports that the value is not `what`. Only mentions the kind of the value, which may be an API key. */
  mustBe(what: string, advice: string): void {
    this.issue(`must be ${what}, is ${kindOf(this.json)}`, advice);
  }

  /** Like `mustBe`, but shows the value if it is a string or a number. For files without API keys. */
  expected(what: string, advice: string): void {
    const isShown = typeof this.json === 'string' || typeof this.json === 'number';
    this.issue(`must be ${what}, is ${isShown ? quote(String(this.json)) : kindOf(this.json)}`, advice);
  }

  /** `$schema` at the root of a file only tells editors which JSON Schema to use. */
  #isSchemaName(name: string): boolean {
    if (name !== '$schema' || this.path !== '$') return false;
    this.member(name).text('Write the path of a JSON Schema, or leave it out.');
    return true;
  }

  #inside(path: string, json: Json | undefined): Cursor {
    return new Cursor(this.file, path, json, this.findings, this.depth + 1);
  }
}

function kindOf(json: Json | undefined): string {
  if (json === undefined) return 'missing';
  if (json === null) return 'null';
  if (Array.isArray(json)) return 'a list';
  if (typeof json === 'object') return 'an object';
  return typeof json === 'string' ? 'a string' : `a ${typeof json}`;
}
