/** The decided field types of all auto-indexed entity types: what a backup keeps of `AutoFields`. */
import type { FieldType } from '../../search/fields/field-type.ts';
import { scanKeyNames } from '../derived/keyspace.ts';
import { storeError } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';
import { decodeFields } from './auto-fields.ts';

export interface AutoFieldTypes {
  readonly tenant: string;
  readonly sourceId: string;
  readonly type: string;
  /** Empty for a type whose entities never had a field. */
  readonly fields: ReadonlyMap<string, FieldType>;
}

/** An entity type may hold anything, a line feed too. */
const keyPattern = /^\{[^}]*\}:fields:([^:]*):([^:]*):(.*)$/s;

/** The types of every source, configured or not. As with SCAN, one may come twice. @throws StoreUnavailableError */
export async function* scanAutoFieldTypes(store: Store): AsyncGenerator<AutoFieldTypes> {
  for await (const names of scanKeyNames(store, '{p*}:fields:*')) {
    for (const name of names) {
      const [, tenant, sourceId, type] = keyPattern.exec(name) ?? [];
      if (tenant === undefined || sourceId === undefined || type === undefined) continue;
      const stored = await store.client.hgetall(name).catch((error) => {
        throw storeError(error);
      });
      yield { tenant, sourceId, type, fields: decodeFields(stored) };
    }
  }
}
