import { useEffect, useState } from 'preact/hooks';
import type { RequestError } from '../api/request.ts';
import { go, pageHref } from '../parts/addresses.ts';
import { Empty, ErrorBox, Loading } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { useTenant } from '../parts/tenant-context.ts';
import { type Found, findEntities } from './find-entities.ts';

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
