/** What can be queried: indexes by their alias, types of auto-indexed groups as `group:type`. */
import type { Tenant } from '../api/answers.ts';
import type { QueryObject } from './query-state.ts';

export type Target =
  | { readonly kind: 'index'; readonly name: string }
  | { readonly kind: 'auto'; readonly name: string; readonly sourceGroup: string; readonly type: string };

export function targetsOf({ indexes, sourceGroups }: Tenant): Target[] {
  return [
    ...indexes.map(({ alias }): Target => ({ kind: 'index', name: alias })),
    ...sourceGroups
      .filter(({ autoIndex }) => autoIndex)
      .flatMap(({ alias, types }) =>
        types.map(
          ({ type }): Target => ({ kind: 'auto', name: `${alias}:${type}`, sourceGroup: alias, type }),
        ),
      ),
  ];
}

/** The members with which `POST /management/v1/query` names the target. */
export function targetMembers(target: Target): QueryObject {
  return target.kind === 'index'
    ? { index: target.name }
    : { sourceGroupAlias: target.sourceGroup, sourceEntityType: target.type };
}

/** The same query with the key of an environment client, as an application sends it. */
export function curlLine(target: Target, query: QueryObject): string {
  const path =
    target.kind === 'index'
      ? `/v1/${encodeURIComponent(target.name)}`
      : `/v1/sourceGroupAlias/${encodeURIComponent(target.sourceGroup)}/type/${encodeURIComponent(target.type)}`;
  const body = JSON.stringify(query).replaceAll("'", "'\\''");
  return `curl '${location.origin}${path}' -H "X-Api-Key: $ENVIRONMENT_KEY" -d '${body}'`;
}

/** Fields of an index as far as its document says them. */

interface IndexDocument {
  readonly index?: { readonly fields?: Readonly<Record<string, { readonly type?: unknown }>> };
}

export interface IndexField {
  readonly name: string;
  /** '' where it is not known. */
  readonly type: string;
}

/**
 * The fields of an index that is written in JSON; nothing for one in code, which says its fields when it runs.
 * @param documents of the configuration, by path
 */
export function fieldsOf(documents: Readonly<Record<string, string>>, alias: string): IndexField[] {
  const text = documents[`indexes/${alias}.json`] ?? documents[`schemas/${alias}.index.json`];
  if (text === undefined) return [];
  try {
    const { index } = JSON.parse(text) as IndexDocument;
    return Object.entries(index?.fields ?? {}).map(([name, { type }]) => ({
      name,
      type: String(type ?? ''),
    }));
  } catch {
    return [];
  }
}

/** Fields that a search can look in. */
export function textFieldsOf(documents: Readonly<Record<string, string>>, alias: string): string[] {
  return fieldsOf(documents, alias)
    .filter(({ type }) => type === 'text' || type === 'text[]')
    .map(({ name }) => name);
}
