/** What random pieces of schemas are made from and computed with. */
import type { SourceEntity } from '../../../../src/contract/entity.ts';
import type { Json } from '../../../../src/contract/json.ts';
import type { Random } from '../random.ts';
import type { Tree } from './render.ts';

/** An entity with the source that it is in. */
export interface Placed {
  readonly sourceId: string;
  readonly entity: SourceEntity;
}

/** What a piece is computed from. */
export interface Scene {
  /** The entity that the view is of. */
  readonly asking: Placed;
  readonly environmentId: string;
  /** The entity passed to the partial or schema that contains the piece. */
  readonly root: Placed;
  /** The matched entity of the lookup around the piece. */
  readonly item: Placed | null;
  /** Source that a source group means in the environment. */
  source(group: string): string;
  entities(sourceId: string): readonly Placed[];
  partial(alias: string): Piece | null;
}

export interface Piece {
  readonly json: Json;
  /** The same as an expression of JavaScript, with `entity`, `item` and `context` and what `values.ts` exports. */
  readonly code: string;
  compute(scene: Scene): Tree;
}

/** The entity that holes read: `p.name` of the one around, or `item.p.name` of a lookup's. */
export interface Subject {
  readonly prefix: '' | 'item.';
  readonly code: 'entity' | 'item';
  of(scene: Scene): Placed;
}

export const rootSubject: Subject = { prefix: '', code: 'entity', of: ({ root }) => root };
export const itemSubject: Subject = {
  prefix: 'item.',
  code: 'item',
  of: ({ root, item }) => item ?? root,
};

export const names = ['n0', 'n1', 'n2', 'n10', 'it’s', "o'clock", 'ünder', ''];
export const groupValues: readonly Json[] = ['g1', 'g2', 9, '9', true, 'true', 2.5];
export const types = ['a', 'b', 'c'];

/** A value of the properties; null when it is not there. */
export function property({ entity }: Placed, name: string): Json {
  return Object.hasOwn(entity.properties, name) ? (entity.properties[name] ?? null) : null;
}

export function scalarText(value: Json): string | null {
  return value === null || typeof value === 'object' ? null : String(value);
}

/** A hole that reads one value, and that value. */
export interface Hole {
  readonly text: string;
  readonly code: string;
  value(scene: Scene): Json;
}

export function randomHole(random: Random, subject: Subject, fields = holeFields): Hole {
  const field = random.pick(fields);
  const isOwn = ownFields.includes(field);
  return {
    text: `{${subject.prefix}${isOwn ? '' : 'p.'}${field}}`,
    code: `${subject.code}.${isOwn ? '' : 'properties.'}${field}`,
    value: (scene) => {
      const placed = subject.of(scene);
      return isOwn ? ownField(placed, field) : property(placed, field);
    },
  };
}

export const ownFields: readonly string[] = ['originId', 'originParentId', 'type', 'url'];
const holeFields = ['name', 'group', 'rank', 'next', 'originId', 'originParentId', 'type'];

export function ownField({ entity }: Placed, field: string): Json {
  switch (field) {
    case 'originId':
      return entity.originId;
    case 'originParentId':
      return entity.originParentId;
    case 'type':
      return entity.type;
    default:
      return entity.url;
  }
}
