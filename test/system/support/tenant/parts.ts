/**
 * Random pieces of schemas, each with a naive implementation of its result, which uses no code of `src/schemas`.
 */
import type { JsonObject } from '../../../../src/contract/json.ts';
import type { Random } from '../random.ts';
import { type Lookup, lookupOf } from './lookup-parts.ts';
import { Reference, type Tree } from './render.ts';
import {
  itemSubject,
  type Piece,
  property,
  randomHole,
  type Scene,
  type Subject,
  scalarText,
} from './scene.ts';

/** What the pieces of a schema may refer to. */
export interface PieceLimits {
  /** Schemas that references may name: only later ones, so that trees of views are finite. */
  readonly aliases: readonly string[];
  readonly groups: readonly string[];
  /** How many more levels of lookups may be nested in the items of lookups. */
  readonly depth: number;
  /** References and partials multiply, so a schema may have one of each kind. */
  readonly mayRefer: boolean;
  readonly mayUsePartials: boolean;
}

function textPiece(random: Random, subject: Subject): Piece {
  const hole = randomHole(random, subject);
  const text = (scene: Scene) => scalarText(hole.value(scene));
  switch (random.below(4)) {
    case 0:
      return { json: hole.text, code: `text(${hole.code})`, compute: text };
    case 1:
      return {
        json: `<${hole.text}>`,
        code: `'<' + (text(${hole.code}) ?? '') + '>'`,
        compute: (scene) => `<${text(scene) ?? ''}>`,
      };
    case 2:
      return {
        json: { type: 'string', value: hole.text, default: 'none' },
        code: `text(${hole.code}) || 'none'`,
        compute: (scene) => text(scene) || 'none',
      };
    default: {
      const other = randomHole(random, subject);
      return {
        json: `${hole.text.slice(0, -1)} ?? ${other.text.slice(1)}`,
        code: `text(${hole.code} ?? ${other.code})`,
        compute: (scene) => scalarText(hole.value(scene) ?? other.value(scene)),
      };
    }
  }
}

const numberText = /^-?\d+(\.\d+)?$/;

/** Ranks are whole or half numbers, or such numbers as strings, which keeps rounding half to even simple. */
function numberPiece(random: Random, subject: Subject): Piece {
  const hole = randomHole(random, subject, ['rank', 'group']);
  const fallback = random.chance(0.5) ? 7.5 : null;
  return {
    json: { type: 'number', value: hole.text, ...(fallback === null ? {} : { default: fallback }) },
    code: `whole(${hole.code}, ${fallback})`,
    compute: (scene) => {
      const value = hole.value(scene);
      const isNumber =
        typeof value === 'number' || (typeof value === 'string' && numberText.test(value.trim()));
      return isNumber ? halfToEven(Number(value)) : fallback;
    },
  };
}

function halfToEven(value: number): number {
  const below = Math.floor(value);
  if (value - below !== 0.5) return Math.round(value) + 0;
  return (below % 2 === 0 ? below : below + 1) + 0;
}

function tagsPiece(random: Random, subject: Subject): Piece {
  const isWrapped = random.chance(0.5);
  return {
    json: {
      type: 'array',
      input: `{${subject.prefix}p.tags}`,
      var: 'tag',
      ...(isWrapped ? { items: '#{tag}' } : {}),
    },
    code: `listOf(${subject.code}.properties.tags)${isWrapped ? ".map((tag) => '#' + (text(tag) ?? ''))" : ''}`,
    compute: (scene) => {
      const value = property(subject.of(scene), 'tags');
      const list = value === null ? [] : [value].flat();
      return isWrapped ? list.map((tag) => `#${scalarText(tag) ?? ''}`) : list;
    },
  };
}

function referencePiece(random: Random, subject: Subject, limits: PieceLimits): Piece {
  const alias = random.pick(limits.aliases);
  if (random.chance(0.3)) {
    const inGroup = `context.reference('${alias}').sourceGroup(groupOf(${subject.code}))`;
    return {
      json: { type: 'reference', alias, id: `{${subject.prefix}id}` },
      code:
        subject.code === 'entity' && random.chance(0.5)
          ? `context.reference('${alias}').self()`
          : `${inGroup}.byOriginId(${subject.code}.originId)`,
      compute: (scene) => {
        const { sourceId, entity } = subject.of(scene);
        return referenceTo(scene, alias, sourceId, entity.originId);
      },
    };
  }
  const hole = randomHole(random, subject, ['next', 'next', 'originParentId', 'originId', 'group']);
  const group = random.chance(0.4) ? random.pick(limits.groups) : null;
  const meant = hole.code === 'entity.originParentId' ? 'parent()' : `byOriginId(text(${hole.code}))`;
  return {
    json: { type: 'reference', alias, originId: hole.text, ...(group === null ? {} : { source: group }) },
    code: `context.reference('${alias}').${meant}${group === null ? '' : `.sourceGroup('${group}')`}`,
    compute: (scene) => {
      const originId = scalarText(hole.value(scene));
      const sourceId = group === null ? scene.asking.sourceId : scene.source(group);
      return originId ? referenceTo(scene, alias, sourceId, originId) : null;
    },
  };
}

function referenceTo({ environmentId }: Scene, alias: string, sourceId: string, originId: string): Tree {
  return new Reference({ environmentId, sourceId, originId, alias });
}

function partialPiece(subject: Subject): Piece {
  return {
    json: {
      type: 'partial',
      input: subject.prefix === '' ? '{root}' : '{item}',
      alias: `{${subject.prefix}type}Card`,
    },
    code: `context.partial(${subject.code}.type + 'Card', ${subject.code})`,
    compute: (scene) => {
      const root = subject.of(scene);
      const partial = scene.partial(`${root.entity.type}Card`);
      return partial === null ? null : partial.compute({ ...scene, root, item: null });
    },
  };
}

function lookupPiece(random: Random, subject: Subject, limits: PieceLimits): Piece {
  const refers = limits.mayRefer && limits.aliases.length > 0 && random.chance(0.4);
  const lookup = lookupOf(random, subject, limits.groups, refers ? 2 : null);
  const inner = { ...limits, depth: limits.depth - 1 };
  const items = refers
    ? referencePiece(random, itemSubject, limits)
    : objectPiece(random, itemSubject, inner, 2);
  return {
    json: { type: 'array', input: { $lookup: lookup.json }, items: items.json },
    code: eachOf(random, lookup, items),
    compute: (scene) => lookup.find(scene).map((item) => items.compute({ ...scene, item })),
  };
}

/** Code resolves lists of promises in several ways. */
function eachOf(random: Random, lookup: Lookup, { code }: Piece): string {
  const { whenAsked, builder } = lookup.code;
  const found = `(${whenAsked} ? await ${builder} : [])`;
  if (!code.includes('await ')) return `${found}.map((item) => ${code})`;
  const made = `map(async (item) => ${code})`;
  switch (random.below(3)) {
    case 0:
      return `await Promise.all(${found}.${made})`;
    case 1:
      return `${found}.${made}`;
    default:
      return `(${whenAsked} ? ${builder}.toPromise() : Promise.resolve([])).then((found) => found.${made})`;
  }
}

function objectPiece(random: Random, subject: Subject, limits: PieceLimits, size: number): Piece {
  const { json, code, compute } = membersOf(random, subject, limits, size);
  return { json: { type: 'object', properties: json }, code, compute };
}

/** The members of an object, or the properties of a schema. */
export function membersOf(
  random: Random,
  subject: Subject,
  limits: PieceLimits,
  size: number,
): Piece & { readonly json: JsonObject } {
  let left = limits;
  const members = Array.from({ length: size }, (_, index): [string, Piece] => {
    const piece = randomPiece(random, subject, left);
    const text = JSON.stringify(piece.json);
    if (text.includes('"reference"')) left = { ...left, mayRefer: false };
    if (text.includes('"partial"')) left = { ...left, mayUsePartials: false };
    return [`m${index}`, piece];
  });
  const id: Piece = {
    json: `{${subject.prefix}originId}`,
    code: `${subject.code}.originId`,
    compute: (scene) => subject.of(scene).entity.originId,
  };
  members.unshift(['who', id]);
  return {
    json: Object.fromEntries(members.map(([name, { json }]) => [name, json])),
    code: `({ ${members.map(([name, { code }]) => `${name}: ${code}`).join(', ')} })`,
    compute: (scene) => Object.fromEntries(members.map(([name, piece]) => [name, piece.compute(scene)])),
  };
}

function randomPiece(random: Random, subject: Subject, limits: PieceLimits): Piece {
  const kinds: (() => Piece)[] = [
    () => textPiece(random, subject),
    () => numberPiece(random, subject),
    () => tagsPiece(random, subject),
  ];
  if (limits.mayRefer && limits.aliases.length > 0) kinds.push(() => referencePiece(random, subject, limits));
  if (limits.mayUsePartials) kinds.push(() => partialPiece(subject));
  if (limits.depth > 0) {
    const lookup = () => lookupPiece(random, subject, limits);
    kinds.push(lookup, lookup, lookup);
  }
  return random.pick(kinds)();
}
