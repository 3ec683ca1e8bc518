import { useEffect, useState } from 'preact/hooks';
import type { RequestError } from '../api/request.ts';
import { Empty } from '../parts/empty.tsx';
import { ErrorBox } from '../parts/error-box.tsx';
import { Loading } from '../parts/loading.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { pageHref, urlHref } from '../shell/addresses.ts';
import { go } from '../shell/place.ts';
import { useTenant } from '../shell/tenant.ts';
import { Find } from './find.tsx';
import { type Found, findEntities, isUrl } from './find-entities.ts';

interface Outcome {
  readonly found: readonly Found[];
  readonly error: RequestError | null;
}

/** What was found for a text. One thing alone is shown immediately. */
export function FoundPage({ text }: { readonly text: string }) {
  const { tenant, environment } = useTenant();
  const [outcome, setOutcome] = useState<Outcome | null>(null);
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
  }, [tenant, environment, text]);
  return (
    <>
      <PageHead title="Find" trail={[{ name: 'Content', href: pageHref('content') }]} />
      <Find text={text} />
      {outcome === null && <Loading />}
      {outcome !== null && outcome.error !== null && <ErrorBox error={outcome.error} />}
      {outcome !== null && outcome.error === null && outcome.found.length === 0 && <Nothing text={text} />}
      {outcome !== null && outcome.found.length > 0 && (
        <ul class="rows" aria-label="Found">
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

function Nothing({ text }: { readonly text: string }) {
  if (isUrl(text)) {
    return (
      <Empty>
        No view is served on this URL or claims it. <a href={urlHref(text)}>See how it is resolved</a>
      </Empty>
    );
  }
  return (
    <Empty>
      No match: no entity or view has this id, and no text field of an index contains these words.
    </Empty>
  );
}
