/** Looks for entities in the ways that people know them. */
import type { Configuration, Entity, QueryResult, Tenant, UrlExplained } from '../api/answers.ts';
import { entityParts, viewParts } from '../api/ids.ts';
import { RequestError, request, withParameters } from '../api/request.ts';
import { textFieldsOf } from '../query/index-fields.ts';
import { entityHref, viewHref } from '../shell/addresses.ts';
import { entityHrefOf } from '../shell/tenant.ts';

export interface Found {
  readonly href: string;
  readonly name: string;
  /** In what it was found. */
  readonly by: string;
}

const perIndex = 5;

export async function findEntities(
  tenant: Tenant,
  environment: string,
  text: string,
): Promise<{ readonly found: readonly Found[]; readonly error: RequestError | null }> {
  const ways = [byId(tenant, text), byOriginId(tenant, environment, text)];
  if (isUrl(text)) ways.push(byUrl(environment, text));
  else ways.push(byText(tenant, environment, text));
  const results = await Promise.allSettled(ways);
  const found = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  const failed = results.find((result) => result.status === 'rejected')?.reason;
  const unique = [...new Map(found.map((one) => [one.href, one])).values()];
  return { found: unique, error: failed instanceof RequestError && unique.length === 0 ? failed : null };
}

/** Whether a text reads like a URL of a site; ids of views and entities do not. */
export function isUrl(text: string): boolean {
  return text.startsWith('/') || /^https?:\/\//i.test(text);
}

async function byId(tenant: Tenant, text: string): Promise<Found[]> {
  if (viewParts(text) !== null) return [{ href: viewHref(text), name: text, by: 'view id' }];
  const href = entityParts(text) === null ? null : entityHrefOf(tenant, text);
  return href === null ? [] : [{ href, name: text, by: 'entity id' }];
}

async function byOriginId(tenant: Tenant, environment: string, originId: string): Promise<Found[]> {
  const answers = await Promise.all(
    tenant.sourceGroups.map(async ({ alias }) => {
      const path = `/entities/${encodeURIComponent(alias)}/${encodeURIComponent(originId)}`;
      const { entity } = await request<Entity>(withParameters(path, { environment })).catch(orNothing);
      if (entity === undefined) return [];
      return [
        { href: entityHref(alias, originId), name: originId, by: `originId in ${alias}, ${entity.type}` },
      ];
    }),
  );
  return answers.flat();
}

async function byUrl(environment: string, url: string): Promise<Found[]> {
  const path = withParameters('/explain/url', { environment, url });
  const { claims } = await request<UrlExplained>(path);
  return claims.map(({ viewId, kind, served }) => ({
    href: viewHref(viewId),
    name: viewParts(viewId)?.originId ?? viewId,
    by: `${kind === 'page' ? 'URL' : 'redirect'} of view ${viewParts(viewId)?.alias}${served ? '' : ', not served'}`,
  }));
}

async function byText(tenant: Tenant, environment: string, value: string): Promise<Found[]> {
  const { documents } = await request<Configuration>('/configuration');
  const answers = await Promise.all(
    tenant.indexes.map(async ({ alias }) => {
      const fields = textFieldsOf(documents, alias);
      if (fields.length === 0) return [];
      const body = {
        index: alias,
        search: { fields: fields.map((field) => ({ field })), value },
        pagination: { pageSize: perIndex },
      };
      const { results } = await request<QueryResult>(withParameters('/query', { environment }), {
        method: 'POST',
        body,
      });
      return results.flatMap((item): Found[] => {
        const href = entityHrefOf(tenant, `gid://Source/${item._sourceGuid}/Entity/${item._originId}`);
        const words = fields.map((field) => item[field]).find((text) => typeof text === 'string');
        if (href === null) return [];
        return [{ href, name: String(words ?? item._originId), by: `${item._originId}, in index ${alias}` }];
      });
    }),
  );
  return answers.flat();
}

function orNothing(error: unknown): { readonly entity?: undefined } {
  if (error instanceof RequestError && error.status === 404) return {};
  throw error;
}
