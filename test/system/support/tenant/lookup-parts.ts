/** Random `$lookup`s, each with a naive implementation that checks every entity of the source. */
import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../../../../src/contract/json.ts';
import type { Random } from '../random.ts';
import {
  groupValues,
  type Hole,
  names,
  ownField,
  ownFields,
  type Placed,
  property,
  randomHole,
  type Scene,
  type Subject,
  scalarText,
  types,
} from './scene.ts';

export interface Lookup {
  readonly json: JsonObject;
  /** JavaScript expressions: whether the lookup runs at all, and its builder. */
  readonly code: { readonly whenAsked: string; readonly builder: string };
  find(scene: Scene): Placed[];
}

interface Condition {
  holds(placed: Placed, scene: Scene): boolean;
}

/** @param topMax maximum number of results; null for a random maximum or none */
export function lookupOf(
  random: Random,
  subject: Subject,
  groups: readonly string[],
  topMax: number | null,
): Lookup {
  const form = random.chance(0.45) ? matchForm(random, subject) : filterForm(random, subject);
  const group = random.chance(0.4) ? random.pick(groups) : null;
  const order = random.chance(0.6) ? orderOf(random) : null;
  const top = topOf(random, subject, topMax);
  return {
    json: {
      ...form.json,
      ...(group === null ? {} : { source: group }),
      ...(order === null ? {} : { orderBy: order.json }),
      ...(top === null ? {} : { top: top.json }),
    },
    code: { whenAsked: form.whenAsked, builder: builderOf(random, form.code, { group, order, top }) },
    find: (scene) => {
      const sourceId = group === null ? scene.asking.sourceId : scene.source(group);
      const found = scene.entities(sourceId).filter((placed) => form.condition.holds(placed, scene));
      found.sort((a, b) => order?.compare(a, b) || compareTexts(a.entity.originId, b.entity.originId));
      return found.slice(0, top?.count(scene) ?? found.length);
    },
  };
}

/** @param filter the content of a JavaScript template literal */
function builderOf(
  random: Random,
  filter: string,
  { group, order, top }: { group: string | null; order: RandomOrder | null; top: Top | null },
): string {
  // The result of a function is unknown before it runs, so the lookup cannot be prefetched.
  const text = random.chance(0.3) ? `unforeseen(\`${filter}\`)` : `\`${filter}\``;
  const excluded = random.chance(0.2) ? ', { excludeProperties: false }' : '';
  const narrowed = random
    .shuffled([
      group === null ? '' : `.sourceGroup('${group}')`,
      order === null ? '' : `.orderBy(${order.code})`,
    ])
    .join('');
  const builder = `context.lookup(${text}${excluded})${narrowed}`;
  return top === null ? builder : `limited(${builder}, ${top.code})`;
}

interface Top {
  readonly json: Json;
  readonly code: string;
  count(scene: Scene): number | null;
}

function topOf(random: Random, subject: Subject, topMax: number | null): Top | null {
  if (topMax !== null) return { json: topMax, code: `${topMax}`, count: () => topMax };
  if (random.chance(0.6)) return null;
  if (random.chance(0.5)) {
    const count = random.between(0, 6);
    return { json: random.chance(0.5) ? count : `${count}`, code: `${count}`, count: () => count };
  }
  const hole = randomHole(random, subject, ['rank']);
  return {
    json: hole.text,
    code: hole.code,
    count: (scene) => {
      const value = Number(hole.value(scene) ?? Number.NaN);
      return value >= 0 ? Math.floor(value) : null;
    },
  };
}

const orderKinds = ['number', 'string', 'boolean'];

interface RandomOrder {
  readonly json: JsonObject;
  readonly code: string;
  compare(a: Placed, b: Placed): number;
}

function orderOf(random: Random): RandomOrder {
  const name = random.pick(['rank', 'name', 'group', 'originId', 'type', 'next']);
  const sort = random.pick(['asc', 'desc']);
  const sign = sort === 'asc' ? 1 : -1;
  const valueIn = (placed: Placed) =>
    ownFields.includes(name) ? ownField(placed, name) : property(placed, name);
  return {
    json: { property: name, sort },
    code: `{ propertyName: '${written(name)}', direction: '${sort}' }`,
    compare: (a, b) => {
      const [x, y] = [valueIn(a), valueIn(b)];
      const [kindX, kindY] = [orderKinds.indexOf(typeof x), orderKinds.indexOf(typeof y)];
      if (kindX < 0 || kindY < 0) return Number(kindX < 0) - Number(kindY < 0);
      if (kindX !== kindY) return sign * (kindX - kindY);
      if (typeof x === 'string' && typeof y === 'string') return sign * compareTexts(x, y);
      return sign * (Number(x) - Number(y));
    },
  };
}

function compareTexts(a: string, b: string): number {
  const [x, y] = [[...a], [...b]].map((chars) => chars.map((char) => char.codePointAt(0) ?? 0));
  for (let at = 0; at < Math.min(x?.length ?? 0, y?.length ?? 0); at += 1) {
    const difference = (x?.[at] ?? 0) - (y?.[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return (x?.length ?? 0) - (y?.length ?? 0);
}

interface Form {
  readonly json: JsonObject;
  /** A JavaScript expression: whether anything can match. */
  readonly whenAsked: string;
  /** The filter as the content of a JavaScript template literal. */
  readonly code: string;
  readonly condition: Condition;
}

function matchForm(random: Random, subject: Subject): Form {
  const operator = random.pick(['equals', 'equals', 'contains']);
  const name =
    operator === 'equals'
      ? random.pick(['group', 'name', 'next', 'originParentId', 'rank', 'originId'])
      : random.pick(['tags', 'name']);
  const wanted: Hole = random.chance(0.7)
    ? randomHole(random, subject)
    : constantHole(random.pick(['g1', 'n1', '9', 'e3']));
  const type = random.pick([null, '*', 'a', `{${subject.prefix}type}`]);
  return {
    json: {
      operator,
      sourceEntityProperty: name,
      matchValue: wanted.text,
      ...(type === null ? {} : { sourceEntityType: type }),
    },
    whenAsked: `text(${wanted.code}) !== null`,
    code: `\${${operator === 'equals' ? 'equalTo' : 'containing'}('${written(name)}', text(${wanted.code}))}${typeCode(type, subject)}`,
    condition: {
      holds: (placed, scene) => {
        if (type !== null && type !== '*') {
          const asked = type === 'a' ? 'a' : subject.of(scene).entity.type;
          if (placed.entity.type !== asked) return false;
        }
        const text = scalarText(wanted.value(scene));
        if (text === null) return false;
        const value = ownFields.includes(name) ? ownField(placed, name) : property(placed, name);
        if (operator === 'equals') return scalarText(value) === text;
        if (Array.isArray(value)) return value.some((item) => scalarText(item) === text);
        return typeof value === 'string' && value.includes(text);
      },
    },
  };
}

function typeCode(type: string | null, subject: Subject): string {
  if (type === null || type === '*') return '';
  return ` and type eq ${type === 'a' ? "'a'" : `\${literal(${subject.code}.type)}`}`;
}

function constantHole(text: string): Hole {
  return { text, code: JSON.stringify(text), value: () => text };
}

function filterForm(random: Random, subject: Subject): Form {
  const { text, code, holds } = filterOf(random, subject, 2);
  return { json: { filter: text }, whenAsked: 'true', code, condition: { holds } };
}

interface Filter extends Condition {
  readonly text: string;
  /** Like `Form.code`. */
  readonly code: string;
}

function filterOf(random: Random, subject: Subject, depth: number): Filter {
  if (depth === 0 || random.chance(0.45)) return leafOf(random, subject);
  if (random.chance(0.15)) {
    const inner = filterOf(random, subject, depth - 1);
    return {
      text: `not (${inner.text})`,
      code: `not (${inner.code})`,
      holds: (placed, scene) => !inner.holds(placed, scene),
    };
  }
  const isAnd = random.chance(0.5);
  const parts = Array.from({ length: random.between(2, 3) }, () => filterOf(random, subject, depth - 1));
  const joined = (texts: readonly string[]) => texts.map((one) => `(${one})`).join(isAnd ? ' and ' : ' or ');
  return {
    text: joined(parts.map(({ text }) => text)),
    code: joined(parts.map(({ code }) => code)),
    holds: (placed, scene) => {
      const held = parts.filter((part) => part.holds(placed, scene)).length;
      return isAnd ? held === parts.length : held > 0;
    },
  };
}

const paths = ['type', 'originId', 'originParentId', 'url', 'group', 'name', 'rank', 'next'];

function readPath(placed: Placed, path: string): Json {
  return ownFields.includes(path) ? ownField(placed, path) : property(placed, path);
}

function written(path: string): string {
  return ownFields.includes(path) ? path : `properties.${path}`;
}

function literalHole(random: Random): Hole {
  const value = random.pick<Json>([...groupValues, ...names, ...types, null, 3, 'e1']);
  const text = typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
  return { text, code: JSON.stringify(value), value: () => value };
}

/** A value in a filter of code: interpolated at run time, or written as a literal. */
function operandCode(random: Random, { text, code }: Hole): string {
  return text.startsWith('{') || random.chance(0.5) ? `\${literal(${code})}` : text;
}

function leafOf(random: Random, subject: Subject): Filter {
  const path = random.pick(paths);
  const value = random.chance(0.6) ? randomHole(random, subject) : literalHole(random);
  switch (random.below(7)) {
    case 0: {
      const values = Array.from({ length: random.between(1, 3) }, () => literalHole(random));
      return {
        text: `${written(path)} in (${values.map(({ text }) => text).join(', ')})`,
        code: `${written(path)} in (${values.map((one) => operandCode(random, one)).join(', ')})`,
        holds: (placed, scene) =>
          values.some((one) => isDeepStrictEqual(one.value(scene), readPath(placed, path))),
      };
    }
    case 1: {
      const list = randomHole(random, subject, ['tags', 'group']);
      return {
        text: `${written(path)} in ${list.text}`,
        code: `${written(path)} in (\${literals(${list.code})})`,
        holds: (placed, scene) =>
          [list.value(scene)].flat().some((one) => isDeepStrictEqual(one, readPath(placed, path))),
      };
    }
    case 2: {
      const isAny = random.chance(0.7);
      const quantifier = `properties.tags/${isAny ? 'any' : 'all'}`;
      return {
        text: `${quantifier}(t: t eq ${value.text})`,
        code: `${quantifier}(t: t eq ${operandCode(random, value)})`,
        holds: (placed, scene) => {
          const tags = property(placed, 'tags');
          const elements = tags === null ? [] : [tags].flat();
          const hits = elements.filter((tag) => isDeepStrictEqual(tag, value.value(scene)));
          return isAny ? hits.length > 0 : hits.length === elements.length;
        },
      };
    }
    case 3: {
      const name = random.pick(['contains', 'startswith', 'endswith']);
      const at = random.pick(['name', 'group', 'tags']);
      return {
        text: `${name}(properties.${at}, ${value.text})`,
        code: `${name}(properties.${at}, ${operandCode(random, value)})`,
        holds: (placed, scene) => textHolds(name, property(placed, at), value.value(scene)),
      };
    }
    default: {
      const operator = random.pick(['eq', 'eq', 'eq', 'eq', 'ne', 'gt', 'ge', 'lt', 'le']);
      return {
        text: `${written(path)} ${operator} ${value.text}`,
        code: `${written(path)} ${operator} ${operandCode(random, value)}`,
        holds: (placed, scene) => compared(readPath(placed, path), operator, value.value(scene)),
      };
    }
  }
}

function textHolds(name: string, value: Json, wanted: Json): boolean {
  if (name === 'contains' && Array.isArray(value)) return value.some((one) => isDeepStrictEqual(one, wanted));
  if (typeof value !== 'string' || typeof wanted !== 'string') return false;
  if (name === 'contains') return value.includes(wanted);
  return name === 'startswith' ? value.startsWith(wanted) : value.endsWith(wanted);
}

function compared(a: Json, operator: string, b: Json): boolean {
  if (operator === 'eq') return isDeepStrictEqual(a, b);
  if (operator === 'ne') return !isDeepStrictEqual(a, b);
  if (a === null || b === null || typeof a !== typeof b || typeof a === 'object') return false;
  const order = typeof a === 'string' && typeof b === 'string' ? compareTexts(a, b) : Number(a) - Number(b);
  if (operator === 'gt') return order > 0;
  if (operator === 'ge') return order >= 0;
  return operator === 'lt' ? order < 0 : order <= 0;
}
