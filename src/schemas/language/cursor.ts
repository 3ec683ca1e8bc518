import type { ConfigIssue } from '../../contract/diagnostic.ts';
import { getOwn, isJsonObject, type Json, type JsonObject } from '../../contract/json.ts';
import { memberStep } from '../build/view-body.ts';
import { adviceForUnknown } from './suggest.ts';
import { SyntaxMistake } from './syntax-mistake.ts';

export type Report = (issue: ConfigIssue) => void;

/** A value of a schema file and where it stands, so that every mistake can be told with its place. */
export class Cursor {
  readonly file: string;
  /** JSON path inside the file: `$.properties.title`. */
  readonly path: string;
  /** Undefined where the file has nothing. */
  readonly json: Json | undefined;
  /** Levels of JSON around this one. */
  readonly depth: number;
  readonly #report: Report;

  constructor(file: string, path: string, json: Json | undefined, report: Report, depth = 0) {
    this.file = file;
    this.path = path;
    this.json = json;
    this.depth = depth;
    this.#report = report;
  }

  issue(message: string, advice: string): void {
    this.#report({ file: this.file, path: this.path, message, advice });
  }

  get isAbsent(): boolean {
    return this.json === undefined;
  }

  member(name: string): Cursor {
    const json = isJsonObject(this.json) ? getOwn(this.json, name) : undefined;
    return this.#inside(memberStep(name), json);
  }

  items(): Cursor[] {
    if (!Array.isArray(this.json)) return [];
    return this.json.map((item, index) => this.#inside(`[${index}]`, item));
  }

  names(): string[] {
    return isJsonObject(this.json) ? Object.keys(this.json) : [];
  }

  /** The object here, its members all among `known`; null with an issue when it is none. */
  object(known: readonly string[]): JsonObject | null {
    const json = this.expectObject(`Write an object with ${known.join(', ')}.`);
    if (json === null) return null;
    for (const name of Object.keys(json)) {
      if (known.includes(name)) continue;
      this.member(name).issue(`unknown key ${JSON.stringify(name)}`, adviceForUnknown(name, known));
    }
    return json;
  }

  /** The object here, whatever its members; null with an issue when it is none. */
  expectObject(advice: string): JsonObject | null {
    if (isJsonObject(this.json)) return this.json;
    this.expected('an object', advice);
    return null;
  }

  expectText(advice: string): string | null {
    if (typeof this.json === 'string') return this.json;
    this.expected('a text', advice);
    return null;
  }

  /** Tells that something else than `what` stands here. */
  expected(what: string, advice: string): void {
    this.issue(`${what} expected, but ${describe(this.json)} stands here`, advice);
  }

  /** Runs a parser of the mapping language; its mistake becomes an issue here, and the result null. */
  parse<T>(parse: () => T): T | null {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof SyntaxMistake)) throw error;
      this.issue(error.message, error.advice);
      return null;
    }
  }

  #inside(step: string, json: Json | undefined): Cursor {
    return new Cursor(this.file, `${this.path}${step}`, json, this.#report, this.depth + 1);
  }
}

function describe(json: Json | undefined): string {
  if (json === undefined) return 'nothing';
  if (json === null) return 'null';
  if (Array.isArray(json)) return 'an array';
  if (typeof json === 'object') return 'an object';
  const text = JSON.stringify(json);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
