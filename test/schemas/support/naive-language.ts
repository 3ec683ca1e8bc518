/**
 * A second implementation of the mapping language, as plain as possible: it walks schema and expression strings again for each
 * value, builds JavaScript values, and shares no code with src/schemas. Lookups and filters of paths are tested elsewhere.
 */
import type { StoredEntity } from '../../../src/contract/entity.ts';
import type { Json, JsonObject } from '../../../src/contract/json.ts';

interface Names {
  readonly own: Record<string, Json>;
  readonly root: Json;
}

interface World {
  readonly partials: Record<string, JsonObject>;
  readonly entity: StoredEntity;
  readonly depth: number;
}

const entityMark = Symbol('entity');

function entityJson(entity: StoredEntity): JsonObject {
  const json = {
    id: `gid://Source/${entity.sourceId}/Entity/${entity.originId}`,
    originId: entity.originId,
    originParentId: entity.originParentId,
    type: entity.type,
    url: entity.url,
    redirects: [...entity.redirects],
    properties: entity.properties,
  };
  return Object.defineProperty(json, entityMark, { value: true });
}

export function interpret(
  view: JsonObject,
  partials: Record<string, JsonObject>,
  entity: StoredEntity,
): JsonObject {
  const root = entityJson(entity);
  return object(view, { own: {}, root }, { partials, entity, depth: 0 });
}

function object(properties: JsonObject, names: Names, world: World): JsonObject {
  const members: [string, Json][] = [];
  for (const [name, at] of Object.entries(properties)) {
    const more = name === '*' ? (path(at as string, names)[0] ?? null) : null;
    if (name !== '*') members.push([name, property(at, names, world)]);
    else if (isObject(more))
      members.push(...Object.entries(more).filter(([key]) => !Object.hasOwn(properties, key)));
  }
  return Object.fromEntries(members);
}

function property(at: Json, names: Names, world: World): Json {
  if (typeof at === 'string') return text(at, names);
  const definition = at as JsonObject;
  const given = (key: string) => definition[key] as string;
  switch (definition.type) {
    case undefined:
      return path(given('*'), names)[0] ?? null;
    case 'string':
      return (
        text(given('value'), names) ||
        ('default' in definition ? text(given('default'), names) : text(given('value'), names))
      );
    case 'number': {
      const number = rounded(value(given('value'), names), Number(definition.precision ?? 0));
      return number ?? ('default' in definition ? unrounded(value(definition.default ?? null, names)) : null);
    }
    case 'boolean':
      return (
        truth(value(given('value'), names)) ??
        ('default' in definition ? truth(value(definition.default ?? null, names)) : null)
      );
    case 'object':
      return object(definition.properties as JsonObject, names, world);
    case 'array':
      return array(definition, names, world);
    case 'reference':
      return reference(definition, names, world);
    default: {
      const body = world.partials[text(given('alias'), names) ?? ''];
      if (body === undefined || world.depth === 32) return null;
      return object(
        body,
        { own: {}, root: value(given('input'), names) },
        { ...world, depth: world.depth + 1 },
      );
    }
  }
}

function array(definition: JsonObject, names: Names, world: World): Json {
  const { input, items } = definition;
  const from =
    typeof input === 'string' ? value(input, names) : path((input as { $path: string }).$path, names);
  const list = from === null ? [] : Array.isArray(from) ? from : [from];
  if (items === undefined) return list;
  const variable = (definition.var ?? 'item') as string;
  const parent = names.own['(current)'] ?? names.root;
  const current = '(current)' in names.own ? (names.own['(current)'] ?? null) : parent;
  return list.map((element) => {
    const own = { ...names.own, '(current)': element, parent: current, [variable]: element };
    return property(items, { own, root: names.root }, world);
  });
}

function reference(definition: JsonObject, names: Names, { entity }: World): Json {
  const key = 'id' in definition ? 'id' : 'originId';
  const id = text(definition[key] as string, names);
  if (!id) return null;
  const [, sourceId = entity.sourceId, originId = id] =
    (key === 'id' && /^gid:\/\/Source\/([^/]+)\/Entity\/(.+)$/s.exec(id)) || [];
  if (key === 'id' && originId === id) return `<${id}>`;
  return `<gid://Environment/environment-1/Source/${sourceId}/Entity/${originId}/View/card>`;
}

/** The random schemas have only paths of names, with an optional `[*]` at the end. */
function path(source: string, names: Names): Json[] {
  const [start = '', ...steps] = source.replace(/^\$\./, '').split('.');
  let found: Json[] = isNamed(start, names) ? [named(start, names)] : [];
  for (const step of steps) {
    const isAll = step.endsWith('[*]');
    const name = step.replace('[*]', '');
    found = found.flatMap((node) =>
      isObject(node) && Object.hasOwn(node, name) ? [node[name] ?? null] : [],
    );
    if (isAll)
      found = found.flatMap((node) =>
        isObject(node) ? Object.values(node) : Array.isArray(node) ? node : [],
      );
  }
  return found;
}

function isObject(node: Json): node is JsonObject {
  return typeof node === 'object' && node !== null && !Array.isArray(node);
}

function named(name: string, { own, root }: Names): Json {
  if (Object.hasOwn(own, name)) return own[name] ?? null;
  if (['root', 'item', 'parent', 'input'].includes(name)) return root;
  return into(root, name);
}

/** A path distinguishes a null member from a missing one. */
function isNamed(name: string, { own, root }: Names): boolean {
  if (Object.hasOwn(own, name) || ['root', 'item', 'parent', 'input'].includes(name)) return true;
  return isObject(root) && (Object.hasOwn(root, name) || (name === 'p' && entityMark in root));
}

function into(node: Json, name: string | number): Json {
  if (typeof name === 'number') return Array.isArray(node) ? (node[name] ?? null) : null;
  if (!isObject(node)) return null;
  if (Object.hasOwn(node, name)) return node[name] ?? null;
  return name === 'p' && entityMark in node ? (node.properties ?? null) : null;
}

function parts(source: string): string[] {
  return source.match(/\{\{|\}\}|\{[^}]*\}|[^{}]+/g) ?? [];
}

function value(source: Json, names: Names): Json {
  if (typeof source !== 'string') return source;
  const [only = '', ...more] = parts(source);
  const isHole = more.length === 0 && only.startsWith('{') && only !== '{{';
  return isHole ? hole(only, names) : text(source, names);
}

function text(source: string, names: Names): string | null {
  const pieces = parts(source).map((part) => {
    if (part === '{{' || part === '}}') return part.charAt(0);
    return part.startsWith('{') ? written(hole(part, names)) : part;
  });
  return pieces.length === 1 ? (pieces[0] ?? null) : pieces.map((piece) => piece ?? '').join('');
}

function written(node: Json): string | null {
  if (node === null || typeof node === 'string') return node;
  return typeof node === 'object' ? JSON.stringify(node) : `${node}`;
}

function hole(source: string, names: Names): Json {
  for (const operand of source.slice(1, -1).split(' ?? ')) {
    const node = operandValue(operand, names);
    if (node !== null) return node;
  }
  return null;
}

function operandValue(operand: string, names: Names): Json {
  if (operand === 'null') return null;
  if (operand === 'true') return true;
  if (operand.startsWith("'")) return operand.slice(1, -1);
  if (/^[0-9]/.test(operand)) return Number(operand);
  const [start = '', ...steps] = operand.match(/[A-Za-z0-9]+/g) ?? [];
  return steps.reduce(
    (node, step) => into(node, /^[0-9]/.test(step) ? Number(step) : step),
    named(start, names),
  );
}

const wholeNumber = /^[ \t\n\r]*-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?[ \t\n\r]*$/;

function unrounded(node: Json): number | null {
  if (typeof node === 'number') return node + 0;
  return typeof node === 'string' && wholeNumber.test(node) ? Number(node) + 0 : null;
}

/** The random numbers have few digits: scaled by a power of ten they are exactly integers or halves. */
function rounded(node: Json, precision: number): number | null {
  const number = unrounded(node);
  if (number === null || Number.isInteger(number)) return number;
  const scaled = number * 10 ** precision;
  const below = Math.floor(scaled);
  const up = scaled - below > 0.5 || (scaled - below === 0.5 && below % 2 !== 0);
  return (up ? below + 1 : below) / 10 ** precision + 0;
}

function truth(node: Json): boolean | null {
  if (typeof node === 'boolean') return node;
  const word = typeof node === 'string' ? node.toLowerCase() : '';
  return word === 'true' ? true : word === 'false' ? false : null;
}
