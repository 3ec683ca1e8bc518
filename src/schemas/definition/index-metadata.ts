import type { Cursor } from '../../contract/config-cursor.ts';
import type { Json } from '../../contract/json.ts';

/** What people say about an index and its fields. Nothing is made of it; tools show it. */
export interface IndexMetadata {
  readonly index: Json;
  /** Of the fields that have some. */
  readonly fields: ReadonlyMap<string, Json>;
}

/** `metadata` of `index` and of each of its fields. Any JSON is taken. */
export function readIndexMetadata(at: Cursor): IndexMetadata {
  const list = at.member('fields');
  const fields = list.names().flatMap((name): [string, Json][] => {
    const said = list.member(name).member('metadata').json;
    return said === undefined || said === null ? [] : [[name, said]];
  });
  return { index: at.member('metadata').json ?? null, fields: new Map(fields) };
}
