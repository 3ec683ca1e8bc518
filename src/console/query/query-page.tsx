import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Configuration } from '../api/answers.ts';
import { useGet } from '../api/use-get.ts';
import { go, pageHref, usePlace } from '../parts/addresses.ts';
import { Copy } from '../parts/copy.tsx';
import { Empty } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { useTenant } from '../parts/tenant-context.ts';
import { Builder } from './builder.tsx';
import { firstQuery, parsedQuery, type QueryObject, withoutToken } from './query-state.ts';
import { Results, useFacetable, useQuery } from './results.tsx';
import { curlLine, fieldsOf, type IndexField, targetsOf } from './targets.ts';

/** A query, as a form and as JSON, and its results. The query is stored in the address. */
export function QueryPage() {
  const { tenant, environment } = useTenant();
  const { search } = usePlace();
  const targets = targetsOf(tenant);
  const index = search.get('index');
  const target = (index === null ? targets[0] : targets.find(({ name }) => name === index)) ?? null;
  const asked = search.get('q');
  const query = useMemo(() => (asked === null ? null : parsedQuery(asked)) ?? firstQuery, [asked]);
  const { data: configuration } = useGet<Configuration>('/configuration');
  const outcome = useQuery(environment, target, query);
  const documentFields =
    target?.kind === 'index' ? fieldsOf(configuration?.documents ?? {}, target.name) : [];
  const seen = useFieldsSeen(target?.name ?? '', outcome.result?.results ?? []);
  const fields = documentFields.length > 0 ? documentFields : seen;
  const facetable = useFacetable(
    environment,
    target,
    fields.map(({ name }) => name),
  );
  if (target === null) return <NoIndex name={targets.length === 0 ? null : index} />;
  const show = (name: string, next: QueryObject, how: 'push' | 'replace' = 'push') =>
    go(pageHref('query', { index: name, q: JSON.stringify(next), environment }), how);
  const ask = (next: QueryObject) => show(target.name, next);
  return (
    <>
      <PageHead
        title="Query"
        about="Build a query with the form, or write it as JSON. Each shows the changes of the other."
      />
      <div class="columns">
        <Builder
          targets={targets}
          target={target}
          fields={fields}
          facetable={facetable}
          query={query}
          onTarget={(name) => show(name, firstQuery)}
          onQuery={(next) => show(target.name, withoutToken(next), 'replace')}
        />
        <div>
          <Written key={target.name} query={query} onQuery={ask} />
          <div class="code-box curl">
            <Copy text={curlLine(target, query)} what="the curl command" />
            <pre tabIndex={0}>{curlLine(target, query)}</pre>
          </div>
        </div>
      </div>
      <Results outcome={outcome} target={target} query={query} onQuery={ask} />
    </>
  );
}

/** @param name the index in the address; null if there is no index at all */
function NoIndex({ name }: { readonly name: string | null }) {
  return (
    <>
      <PageHead title="Query" />
      {name === null ? (
        <Empty>
          No indexes. Add an index schema, or set <code>autoIndex</code> on a source group.
        </Empty>
      ) : (
        <Empty>
          No index is called <code>{name}</code>. <a href={pageHref('query')}>Choose another one</a>
        </Empty>
      )}
    </>
  );
}

/** The query as editable JSON. */
function Written({
  query,
  onQuery,
}: {
  readonly query: QueryObject;
  readonly onQuery: (query: QueryObject) => void;
}) {
  const written = JSON.stringify(query, null, 2);
  const [text, setText] = useState(written);
  useEffect(() => setText(written), [written]);
  const parsed = parsedQuery(text);
  const run = () => parsed !== null && onQuery(parsed);
  return (
    <div class="field">
      <label for="query-json">The query object</label>
      <textarea
        id="query-json"
        class="code"
        spellcheck={false}
        rows={Math.min(24, Math.max(8, text.split('\n').length))}
        value={text}
        aria-invalid={parsed === null}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run();
        }}
      />
      {parsed === null && <p class="error-text">Not a valid JSON object.</p>}
      <p>
        <button type="button" disabled={parsed === null || text === written} onClick={run}>
          Run this query
        </button>{' '}
        <small class="quiet">Ctrl-Enter</small>
      </p>
    </div>
  );
}

/** Fields in all results of a target so far, because the next results may lack some. */
function useFieldsSeen(target: string, items: readonly Readonly<Record<string, unknown>>[]): IndexField[] {
  const [known] = useState(new Map<string, Set<string>>());
  const names = known.get(target) ?? new Set();
  known.set(target, names);
  for (const item of items.slice(0, sampledItems)) {
    for (const name of Object.keys(item)) if (!name.startsWith('_')) names.add(name);
  }
  return [...names].map((name) => ({ name, type: '' }));
}

const sampledItems = 20;
