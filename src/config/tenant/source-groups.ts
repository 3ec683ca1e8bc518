import type { Cursor } from '../../contract/config-cursor.ts';
import { quote } from '../../lib/quote.ts';
import type { Environment, Source, SourceGroup } from '../configuration.ts';
import type { ConfiguredKey } from './api-keys.ts';
import { EntriesByName, readAlias, readId, readKeys, readNamed } from './common-fields.ts';
import { sourceGroupShape, sourceShape } from './tenant-shapes.ts';

export interface SourceEntry {
  readonly source: Source;
  readonly keys: readonly ConfiguredKey[];
  readonly at: Cursor;
}

export interface SourceGroups {
  readonly sourceGroups: ReadonlyMap<string, SourceGroup>;
  readonly sources: readonly SourceEntry[];
}

/** Reads `sourceGroups` of a tenant file. */
export function readSourceGroups(list: Cursor, environments: EntriesByName<Environment>): SourceGroups {
  const groups = new EntriesByName<SourceGroup>('source group');
  const sourceIds = new EntriesByName<true>('source id');
  const sources: SourceEntry[] = [];
  for (const at of list.items()) {
    if (at.object(sourceGroupShape) === null) continue;
    const alias = readAlias(at.member('alias'));
    const entries = readSources(at.member('sources'), alias ?? '', environments, sourceIds);
    for (const entry of entries) sources.push(entry);
    const group = {
      alias: alias ?? '',
      autoIndex: at.member('autoIndex').optionalBoolean(false),
      sources: entries.map((entry) => entry.source),
    };
    if (alias !== null) groups.add(alias, group, at.member('alias'));
  }
  return { sourceGroups: new Map(groups), sources };
}

function readSources(
  list: Cursor,
  sourceGroup: string,
  environments: EntriesByName<Environment>,
  sourceIds: EntriesByName<true>,
): SourceEntry[] {
  // Environment alias -> name of the source of this group that uses it.
  const users = new Map<string, string>();
  return list.items().flatMap((at) => {
    if (at.object(sourceShape) === null) return [];
    const id = readId(at.member('id'));
    if (id !== null) sourceIds.add(id, true, at.member('id'));
    const name = at.member('name').optionalString(id ?? '');
    const used = readEnvironmentsOf(name, at.member('environments'), environments, users);
    const propertiesOptional = at.member('propertiesOptional').optionalBoolean(false);
    const source = { id: id ?? '', name, sourceGroup, environments: used, propertiesOptional };
    return [{ source, keys: readKeys(at.member('apiKeys')), at }];
  });
}

/** Within a source group, an environment is used by at most one source, so that group and environment identify a source. */
function readEnvironmentsOf(
  sourceName: string,
  list: Cursor,
  environments: EntriesByName<Environment>,
  users: Map<string, string>,
): Environment[] {
  if (list.json === undefined) {
    list.issue('missing', 'List the aliases of the environments that use this source.');
  }
  return list.items().flatMap((at) => {
    const environment = readNamed(at, environments);
    if (environment === null) return [];
    const user = users.get(environment.alias);
    users.set(environment.alias, user ?? sourceName);
    if (user === undefined) return [environment];
    const message = `environment "${environment.alias}" is used by source ${quote(user)} of this group`;
    at.issue(message, 'In one source group an environment is used by at most one source: remove one.');
    return [];
  });
}
