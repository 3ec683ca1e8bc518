/** Maps the columns of a CSV file to members and properties of entities. */
import { getOwn, isJsonObject, type JsonObject, setOwn } from '../../contract/json.ts';
import { CommandStop } from '../terminal/command-line.ts';

/** Entity members that a column can provide. */
export const mappedNames = ['originId', 'type', 'url'] as const;
export type MappedName = (typeof mappedNames)[number];

export interface RowOptions {
  /** Columns whose names differ from the entity members that they provide. */
  readonly map: ReadonlyMap<MappedName, string>;
  /** The type of all rows; null to read it from a column. */
  readonly type: string | null;
}

interface RowEntity {
  readonly originId: string;
  readonly type: string;
  readonly url?: string;
  readonly properties: JsonObject;
}

export class Columns {
  readonly count: number;
  readonly #type: string | null;
  readonly #columns: Readonly<Record<MappedName, number>>;
  readonly #properties: readonly { readonly path: readonly string[]; readonly at: number }[];

  /** @throws CommandStop if the column names cannot be used */
  constructor(firstRow: readonly string[], { map, type }: RowOptions) {
    const names = firstRow.map((name) => name.trim());
    this.count = names.length;
    this.#type = type;
    const columnOf = (name: MappedName) => names.indexOf(map.get(name) ?? name);
    this.#columns = {
      originId: columnOf('originId'),
      type: type === null ? columnOf('type') : -1,
      url: columnOf('url'),
    };
    checkNames(names);
    for (const name of mappedNames) {
      const isNeeded = name === 'originId' || (name === 'type' && type === null);
      if (this.#columns[name] < 0 && (isNeeded || map.has(name))) throw missing(name, map, names);
    }
    const taken = new Set(Object.values(this.#columns));
    this.#properties = names
      .map((name, at) => ({ path: name.split('.'), at }))
      .filter(({ at }) => !taken.has(at));
  }

  /** Every value is a string. An empty `url` cell means no URL. */
  entityOf(cells: readonly string[]): RowEntity {
    const cell = (at: number) => cells[at] ?? '';
    const properties: JsonObject = {};
    for (const { path, at } of this.#properties) setAt(properties, path, cell(at));
    const url = cell(this.#columns.url);
    return {
      originId: cell(this.#columns.originId),
      type: this.#type ?? cell(this.#columns.type),
      ...(url === '' ? {} : { url }),
      properties,
    };
  }
}

function checkNames(names: readonly string[]): void {
  const all = new Set(names);
  for (const [at, name] of names.entries()) {
    const steps = name.split('.');
    if (steps.includes(''))
      throw new CommandStop(`Column ${at + 1} of the first row needs a name, not '${name}'.`);
    if (names.indexOf(name) !== at) throw new CommandStop(`The first row has two columns '${name}'.`);
    for (let length = 1; length < steps.length; length += 1) {
      const outer = steps.slice(0, length).join('.');
      if (!all.has(outer)) continue;
      throw new CommandStop(
        `Column '${outer}' cannot be both a string and an object with '${name}'. Rename one.`,
      );
    }
  }
}

function missing(name: MappedName, map: RowOptions['map'], names: readonly string[]): CommandStop {
  const advice = `--map ${name}=COLUMN${name === 'type' ? ' or --type TYPE' : ''}`;
  return new CommandStop(
    `The first row has no column '${map.get(name) ?? name}', only ${names.join(', ')}. Choose one with ${advice}.`,
  );
}

function setAt(object: JsonObject, [name = '', ...rest]: readonly string[], value: string): void {
  if (rest.length === 0) {
    setOwn(object, name, value);
    return;
  }
  const known = getOwn(object, name);
  const inner: JsonObject = isJsonObject(known) ? known : {};
  setOwn(object, name, inner);
  setAt(inner, rest, value);
}
