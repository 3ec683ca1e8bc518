import type { StoredEntity } from '../../src/contract/entity.ts';
import type { Json, JsonObject } from '../../src/contract/json.ts';
import { Build } from '../../src/schemas/build.ts';
import { Frame } from '../../src/schemas/scope.ts';
import type { BuildInput } from '../../src/schemas/types.ts';

export const runs = Number(process.env.MILLRACE_RUNS ?? '1');

export function entityOf(properties: JsonObject, fields: Partial<StoredEntity> = {}): StoredEntity {
  return {
    sourceId: 'source-1',
    originId: 'origin-1',
    type: 'article',
    url: '/one',
    originParentId: null,
    redirects: [],
    stamp: 1,
    bornStamp: 1,
    urlStamp: 1,
    ...fields,
    properties,
  };
}

export function inputOf(entity: StoredEntity, more: Partial<BuildInput> = {}): BuildInput {
  return {
    entity,
    environmentId: 'environment-1',
    resolveSource: () => null,
    lookup: () => undefined,
    partial: () => undefined,
    ...more,
  };
}

/** A frame whose `root` is any JSON value, as in a partial. */
export function frameOver(value: Json): Frame {
  return new Frame(new Build(inputOf(entityOf({}))), value);
}

/** A frame of a full schema. */
export function frameOf(entity: StoredEntity): Frame {
  const build = new Build(inputOf(entity));
  return new Frame(build, build.root);
}
