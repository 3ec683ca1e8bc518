import { useEffect, useState } from 'preact/hooks';
import type { Configuration, Entities, QueryResult, Tenant } from '../api/answers.ts';
import { RequestError, request, withParameters } from '../api/request.ts';
import { entityHref, entityParts, go, pageHref, viewHref, viewParts } from '../parts/addresses.ts';
import { Empty, ErrorBox, Loading } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { entityHrefOf, groupsIn, useTenant } from '../parts/tenant-context.ts';
import { textFieldsOf } from '../query/targets.ts';

interface Outcome {
  readonly found: readonly Found[];
  readonly error: RequestError | null;
}

/** The search results for a text. A single result is opened immediately. */
export function FoundPage({ text }: { readonly text: string }) {
  const { tenant, environment } = useTenant();
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setOutcome(null);
    findEntities(tenant, environment, text).then((result) => {
      if (stop.signal.aborted) return;
      const [first, ...others] = result.found;
      if (first !== undefined && others.length === 0) go(first.href, 'replace');
      else setOutcome(result);
    });
    return () => stop.abort();
  }, [tenant, environment, text, turn]);
  return (
    <>
      <PageHead title={`Results for “${text}”`} trail={[{ name: 'Content', href: pageHref('content') }]} />
      {outcome === null && <Loading />}
      {outcome !== null && outcome.error !== null && (
        <ErrorBox error={outcome.error} retry={() => setTurn(turn + 1)} />
      )}
      {outcome !== null && outcome.error === null && outcome.found.length === 0 && (
        <Empty>
          No match: no entity or view has this id, and no text field of an index contains these words.
        </Empty>
      )}
      {outcome !== null && outcome.found.length > 0 && (
        <ul class="rows" aria-label="Results">
          {outcome.found.map(({ href, name, by }) => (
            <li key={href}>
              <a href={href}>{name}</a> <small class="quiet">{by}</small>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

interface Found {
  readonly href: string;
  readonly name: string;
  /** What matched. */
  readonly by: string;
}

const perIndex = 5;

async function findEntities(
  tenant: Tenant,
  environment: string,
  text: string,
): Promise<{ readonly found: readonly Found[]; readonly error: RequestError | null }> {
  const searches = [
    byId(tenant, text),
    byOriginId(tenant, environment, text),
    byText(tenant, environment, text),
  ];
  const results = await Promise.allSettled(searches);
  const found = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  const failed = results.find((result) => result.status === 'rejected')?.reason;
  const unique = [...new Map(found.map((one) => [one.href, one])).values()];
  return { found: unique, error: failed instanceof RequestError && unique.length === 0 ? failed : null };
}

async function byId(tenant: Tenant, text: string): Promise<Found[]> {
  if (viewParts(text) !== null) return [{ href: viewHref(text), name: text, by: 'view id' }];
  const href = entityParts(text) === null ? null : entityHrefOf(tenant, text);
  return href === null ? [] : [{ href, name: text, by: 'entity id' }];
}

async function byOriginId(tenant: Tenant, environment: string, originId: string): Promise<Found[]> {
  const answers = await Promise.all(
    groupsIn(tenant, environment).map(async (sourceGroup) => {
      const asked = { sourceGroup, environment, originId, details: true };
      const { entities } = await request<Entities>(withParameters('/entities', asked));
      return entities.map(({ type, name }) => ({
        href: entityHref(sourceGroup, originId),
        name: name ?? originId,
        by: `originId ${originId} in ${sourceGroup}, ${type}`,
      }));
    }),
  );
  return answers.flat();
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
