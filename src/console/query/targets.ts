/** What can be queried: indexes by alias, and types of auto-indexed groups as `group:type`. */
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

/** The members of `POST /management/v1/query` for the target. */
export function targetMembers(target: Target): QueryObject {
  return target.kind === 'index'
    ? { index: target.name }
    : { sourceGroupAlias: target.sourceGroup, sourceEntityType: target.type };
}

/** The same query as an application would send it, with the key of an environment client. */
export function curlLine(target: Target, query: QueryObject): string {
  const path =
    target.kind === 'index'
      ? `/v1/${encodeURIComponent(target.name)}`
      : `/v1/sourceGroupAlias/${encodeURIComponent(target.sourceGroup)}/type/${encodeURIComponent(target.type)}`;
  const body = JSON.stringify(query).replaceAll("'", "'\\''");
  return `curl '${location.origin}${path}' -H "X-Api-Key: $ENVIRONMENT_KEY" -d '${body}'`;
}

/** The part of an index document with the fields. */
interface IndexDocument {
  readonly index?: { readonly fields?: Readonly<Record<string, { readonly type?: unknown }>> };
}

export interface IndexField {
  readonly name: string;
  /** '' if unknown. */
  readonly type: string;
}

/**
 * The fields of a JSON index; empty for an index in code, whose fields are only known at run time.
 * @param documents documents of the configuration by path
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

/** Names of the searchable fields. */
export function textFieldsOf(documents: Readonly<Record<string, string>>, alias: string): string[] {
  return fieldsOf(documents, alias)
    .filter(({ type }) => type === 'text' || type === 'text[]')
    .map(({ name }) => name);
}
