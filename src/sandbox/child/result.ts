/** Serializes the result of code to JSON, split at references and partials of JSON schemas. */
import { jsonDepthMax, viewCharactersMax } from '../../contract/limits.ts';
import { memberStep } from '../../lib/text-position.ts';
import type { CodeValue, Hole } from '../../schemas/build/code-call.ts';
import { type Placeholder, placeholderOf, type Selection } from './builders.ts';
import type { Run } from './run.ts';

/** A value that cannot be in a view. */
class UnfitValue extends TypeError {}

/** The value contains a promise. */
class NotSettled extends Error {}

/** Serializes the value with all promises resolved. @throws UnfitValue, and the rejections of promises */
export async function settledValue(value: unknown, run: Run): Promise<CodeValue> {
  // Most code is an async function that returns plain values, which need no copy.
  const given = await value;
  try {
    return writeValue(given, run);
  } catch (error) {
    if (!(error instanceof NotSettled)) throw error;
  }
  return writeValue(await settle(given, 1), run);
}

/** Copies the value, so that every member is read once. */
async function settle(value: unknown, depth: number): Promise<unknown> {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > jsonDepthMax + 1) return value;
  if (isThenable(value)) return await settle(await value, depth);
  if (placeholderOf(value) !== undefined) return value;
  if (isSpecial(value)) return await settle(specialValue(value), depth);
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (let index = 0; index < value.length; index += 1) items.push(await settle(value[index], depth + 1));
    return items;
  }
  const copy: Record<string, unknown> = Object.create(null);
  for (const name of Object.keys(value)) {
    copy[name] = await settle((value as Record<string, unknown>)[name], depth + 1);
  }
  return copy;
}

function isThenable(value: object): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown }).then === 'function';
}

/** True for objects with their own JSON form, such as dates. */
function isSpecial(value: object): boolean {
  return (
    typeof (value as { toJSON?: unknown }).toJSON === 'function' ||
    value instanceof String ||
    value instanceof Number ||
    value instanceof Boolean
  );
}

function specialValue(value: object): unknown {
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === 'function' ? Reflect.apply(toJSON, value, ['']) : value.valueOf();
}

function writeValue(value: unknown, run: Run): CodeValue {
  const writer = new ResultWriter(run);
  writer.value(value, 1);
  return writer.finish();
}

/** The JSON text of a value without references. */
function plainText(value: unknown, run: Run, what: string): string {
  const { texts, holes } = writeValue(value, run);
  if (holes.length > 0) {
    throw new UnfitValue(`${what} cannot contain a reference or a partial of a JSON schema`);
  }
  return texts.join('');
}

class ResultWriter {
  readonly #texts: string[] = [];
  readonly #holes: Hole[] = [];
  readonly #path: (string | number)[] = [];
  readonly #around: object[] = [];
  #text = '';
  #length = 0;

  constructor(private readonly run: Run) {}

  finish(): CodeValue {
    return { texts: [...this.#texts, this.#text], holes: this.#holes };
  }

  value(value: unknown, depth: number): void {
    if (typeof value === 'object' && value !== null) this.#object(value, depth);
    else this.#write(this.#scalarText(value));
  }

  #scalarText(value: unknown): string {
    switch (typeof value) {
      case 'string':
        return JSON.stringify(value);
      case 'number':
        return Number.isFinite(value) ? String(value) : 'null';
      case 'boolean':
        return value ? 'true' : 'false';
      case 'undefined':
      case 'object':
        return 'null';
      default:
        throw this.#unfit(`a ${typeof value}`);
    }
  }

  #object(value: object, depth: number): void {
    const content = placeholderOf(value);
    if (content !== undefined) {
      this.#placeholder(content);
      return;
    }
    if (isThenable(value)) throw new NotSettled();
    const isPlain = !isSpecial(value);
    const special = isPlain ? null : specialValue(value);
    if (special === value) throw this.#unfit('an object whose toJSON gives itself');
    this.#nested(value, depth, () => {
      if (!isPlain) this.value(special, depth + 1);
      else if (Array.isArray(value)) this.#items(value, depth);
      else this.#members(value as Record<string, unknown>, depth);
    });
  }

  #nested(value: object, depth: number, write: () => void): void {
    if (depth > jsonDepthMax) {
      const isCycle = this.#around.includes(value);
      throw isCycle ? this.#unfit('a cycle') : this.#unfit(`more than ${jsonDepthMax} levels, which`);
    }
    this.#around.push(value);
    write();
    this.#around.pop();
  }

  #items(items: readonly unknown[], depth: number): void {
    // Array.from also includes the gaps of sparse arrays.
    this.#list(Array.from(items), (item) => this.value(item, depth + 1));
  }

  #members(members: Readonly<Record<string, unknown>>, depth: number): void {
    let mark = '{';
    for (const name of Object.keys(members)) {
      const value = members[name];
      if (value === undefined) continue;
      this.#write(`${mark}${JSON.stringify(name)}:`);
      mark = ',';
      this.#path.push(name);
      this.value(value, depth + 1);
      this.#path.pop();
    }
    this.#write(mark === '{' ? '{}' : '}');
  }

  #write(text: string): void {
    this.#length += text.length;
    if (this.#length > viewCharactersMax) {
      throw new UnfitValue(`the result has more than ${viewCharactersMax} characters`);
    }
    this.#text += text;
  }

  #placeholder(content: Placeholder): void {
    if (content.kind === 'reference') {
      this.#reference(content.alias, content.selection);
      return;
    }
    const { alias, input } = content;
    const isEntity = typeof input === 'object' && input !== null && this.run.entities.has(input);
    const text = plainText(input, this.run, `the input of the partial ${alias}`);
    this.#hole({ kind: 'partial', path: this.#place, alias, input: text, isEntity });
  }

  #reference(alias: string, { what, request, isFirst }: Selection): void {
    const { sourceGroup } = request;
    const one = (originId: string | null) => {
      if (originId === null) this.#write('null');
      else this.#hole({ kind: 'reference', path: this.#place, alias, originId, sourceGroup });
    };
    switch (what.kind) {
      case 'nothing':
        throw this.#unfit(
          `reference('${alias}') that says not which view is meant (byOriginId, children, …), which`,
        );
      case 'one':
        one(what.originId);
        return;
      case 'found':
        this.#hole({ kind: 'references', path: this.#place, alias, lookup: { ...request }, isFirst });
        return;
      case 'some': {
        const originIds = what.originIds.slice(0, request.limit ?? what.originIds.length);
        if (isFirst) one(originIds[0] ?? null);
        else this.#list(originIds, one);
      }
    }
  }

  #list<T>(items: readonly T[], write: (item: T) => void): void {
    this.#write('[');
    items.forEach((item, index) => {
      if (index > 0) this.#write(',');
      this.#path.push(index);
      write(item);
      this.#path.pop();
    });
    this.#write(']');
  }

  #hole(hole: Hole): void {
    this.#texts.push(this.#text);
    this.#text = '';
    this.#holes.push(hole);
  }

  get #place(): string {
    return this.#path.map((step) => (typeof step === 'number' ? `[${step}]` : memberStep(step))).join('');
  }

  #unfit(what: string): UnfitValue {
    return new UnfitValue(`${what} cannot be in a result: $${this.#place}`);
  }
}
