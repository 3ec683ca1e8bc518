import { titleOf } from '../../contract/view-title.ts';
import type { UrlExplained, ViewExplained } from '../api/answers.ts';
import { withParameters } from '../api/request.ts';
import { useGet } from '../api/use-get.ts';
import { go, pageHref, usePlace } from '../parts/addresses.ts';
import { SearchButton } from '../parts/find-anywhere.tsx';
import { Time } from '../parts/format.tsx';
import { Empty, ErrorBox, Loading, State } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Table } from '../parts/table.tsx';
import { useTenant } from '../parts/tenant-context.ts';
import { TitlesContext, ViewLink } from '../parts/view-links.tsx';

/** Shows how the URL in the search field is resolved, step by step. */
export function UrlsPage() {
  const { tenant, environment } = useTenant();
  const { search } = usePlace();
  const url = search.get('url') ?? '';
  const client = search.get('client') ?? '';
  const clients = tenant.clients.filter((one) => one.environment === environment);
  const { data, error, reload } = useGet<UrlExplained>(
    url === '' ? null : withParameters('/explain/url', { environment, client, url }),
  );
  return (
    <>
      <PageHead
        title={url === '' ? 'URLs' : url}
        trail={url === '' ? [] : [{ name: 'URLs', href: pageHref('urls') }]}
        about="How a URL is resolved, step by step."
      />
      {url === '' && (
        <>
          <Empty>Search for a URL of your site, with or without its host.</Empty>
          <SearchButton />
        </>
      )}
      {url !== '' && clients.length > 1 && (
        <div class="find">
          <label for="client">For the environment client</label>
          <select
            id="client"
            value={client}
            onChange={({ currentTarget }) => go(pageHref('urls', { url, client: currentTarget.value }))}
          >
            <option value="">the first one</option>
            {clients.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </div>
      )}
      {error !== null && <ErrorBox error={error} retry={reload} />}
      {url !== '' && data === null && error === null && <Loading />}
      {data !== null && <Explained explained={data} />}
    </>
  );
}

const answerTexts = {
  200: 'a page is served',
  301: 'a redirect is served',
  404: 'nothing is served',
} as const;

function Explained({ explained: { steps, claims, answer } }: { readonly explained: UrlExplained }) {
  const served = claims.find((claim) => claim.served);
  const { data: view } = useGet<ViewExplained>(
    served === undefined ? null : withParameters('/explain/view', { id: served.viewId }),
  );
  const title = view === null ? null : titleOf(view.view);
  const titles = new Map(served === undefined || title === null ? [] : [[served.viewId, title]]);
  return (
    <TitlesContext.Provider value={titles}>
      <p class="verdict" role="status">
        <State means={answer === 404 ? 'bad' : answer === 301 ? 'accent' : 'good'}>{answer}</State>{' '}
        {answerTexts[answer]}
        {served !== undefined && (
          <>
            : <ViewLink id={served.viewId} />
          </>
        )}
      </p>
      <section>
        <h2>Steps</h2>
        <ol class="steps">
          {steps.map(({ step, result }, at) => (
            <li key={at}>
              <strong>{step}</strong>
              <span>{result}</span>
            </li>
          ))}
        </ol>
      </section>
      <section>
        <h2>Claims, best first</h2>
        {claims.length === 0 ? (
          <Empty>
            No view claims this URL. A view gets its URL from <code>route.url</code> in its schema.
          </Empty>
        ) : (
          <Table
            label="Claims"
            heads={[
              { name: 'View' },
              { name: 'Kind' },
              { name: 'Since' },
              { name: 'Served' },
              { name: 'Reason' },
            ]}
            rows={claims.map(({ viewId, kind, since, served, because }) => [
              <ViewLink key="view" id={viewId} />,
              kind,
              <Time key="since" at={since} />,
              <State key="served" means={served ? 'good' : 'quiet'}>
                {served ? 'served' : 'not served'}
              </State>,
              because,
            ])}
          />
        )}
      </section>
    </TitlesContext.Provider>
  );
}
