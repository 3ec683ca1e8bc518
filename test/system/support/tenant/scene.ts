/** Types and helpers for random pieces of schemas. */
import type { SourceEntity } from '../../../../src/contract/entity.ts';
import type { Json } from '../../../../src/contract/json.ts';
import type { Random } from '../random.ts';
import type { Tree } from './render.ts';

/** An entity with its source. */
export interface Placed {
  readonly sourceId: string;
  readonly entity: SourceEntity;
}

/** The context in which a piece is computed. */
export interface Scene {
  /** The entity of the view. */
  readonly asking: Placed;
  readonly environmentId: string;
  /** The entity passed to the partial or schema that contains the piece. */
  readonly root: Placed;
  /** The matched entity of the lookup around the piece. */
  readonly item: Placed | null;
  /** The source of a source group in the environment. */
  source(group: string): string;
  entities(sourceId: string): readonly Placed[];
  partial(alias: string): Piece | null;
}

export interface Piece {
  readonly json: Json;
  /** The same as a JavaScript expression, which may use `entity`, `item`, `context` and the exports of `values.ts`. */
  readonly code: string;
  compute(scene: Scene): Tree;
}

/** The entity that holes read: that of the schema (`p.name`), or the matched one of a lookup (`item.p.name`). */
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

/** The value of a property, or null if it does not exist. */
export function property({ entity }: Placed, name: string): Json {
  return Object.hasOwn(entity.properties, name) ? (entity.properties[name] ?? null) : null;
}

export function scalarText(value: Json): string | null {
  return value === null || typeof value === 'object' ? null : String(value);
}

/** A placeholder for one value, and that value. */
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
