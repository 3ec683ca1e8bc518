import type { Cursor } from '../../contract/config-cursor.ts';
import type { ManagementScope } from '../configuration.ts';
import { Names } from '../documents/document-names.ts';
import { readKeys, readNamed, type WrittenKey } from './common-fields.ts';
import { managementClientShape, managementScopes } from './tenant-shapes.ts';

export interface ManagementClientEntry {
  readonly name: string;
  readonly scopes: ReadonlySet<ManagementScope>;
  readonly keys: readonly WrittenKey[];
  readonly at: Cursor;
}

/** Reads one of `managementClients`; `index` is its place in the list. Null with an issue for what is not an object. */
export function readManagementClient(at: Cursor, index: number): ManagementClientEntry | null {
  if (at.object(managementClientShape) === null) return null;
  return {
    name: at.member('name').optionalText(`management client ${index + 1}`),
    scopes: readManagementScopes(at.member('scopes')),
    keys: readKeys(at.member('apiKeys')),
    at,
  };
}

function readManagementScopes(list: Cursor): ReadonlySet<ManagementScope> {
  if (list.json === undefined) return new Set(managementScopes);
  const known = new Names<ManagementScope>(
    'management scope',
    managementScopes.map((scope) => [scope, scope]),
  );
  return new Set(list.items().flatMap((item) => readNamed(item, known) ?? []));
}
