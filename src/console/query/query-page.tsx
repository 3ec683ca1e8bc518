import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Configuration } from '../api/answers.ts';
import { useGet } from '../api/use-get.ts';
import { Copy } from '../parts/copy.tsx';
import { Empty } from '../parts/empty.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { pageHref } from '../shell/addresses.ts';
import { go, usePlace } from '../shell/place.ts';
import { useTenant } from '../shell/tenant.ts';
import { Builder } from './builder.tsx';
import { fieldsOf } from './index-fields.ts';
import { firstQuery, parsedQuery, type QueryObject, withoutToken } from './query-state.ts';
import { Results } from './results.tsx';
import { curlLine, targetsOf } from './targets.ts';
import { useQuery } from './use-query.ts';

/** A query, built by hand or written, and what it finds. The address holds it. */
export function QueryPage() {
  const { tenant, environment } = useTenant();
  const { search } = usePlace();
  const targets = targetsOf(tenant);
  const target = targets.find(({ name }) => name === search.get('index')) ?? targets[0] ?? null;
  const asked = search.get('q');
  const query = useMemo(() => (asked === null ? null : parsedQuery(asked)) ?? firstQuery, [asked]);
  const { data: configuration } = useGet<Configuration>('/configuration');
  const outcome = useQuery(environment, target, query);
  if (target === null) return <NoIndex />;
  const documentFields = target.kind === 'index' ? fieldsOf(configuration?.documents ?? {}, target.name) : [];
  const fields = documentFields.length > 0 ? documentFields : fieldsSeen(outcome.result?.results ?? []);
  const show = (name: string, next: QueryObject, how: 'push' | 'replace' = 'push') =>
    go(pageHref('query', { index: name, q: JSON.stringify(next), environment }), how);
  const ask = (next: QueryObject) => show(target.name, next);
  return (
    <>
      <PageHead
        title="Query"
        about="Build a query on the left, or write it on the right. Both are the same query."
      />
      <div class="columns">
        <Builder
          targets={targets}
          target={target}
          fields={fields}
          query={query}
          onTarget={(name) => show(name, firstQuery)}
          onQuery={(next) => show(target.name, withoutToken(next), 'replace')}
        />
        <div>
          <Written key={target.name} query={query} onQuery={ask} />
          <div class="code-box curl">
            <Copy text={curlLine(target, query)} what="the curl line" />
            <pre tabIndex={0}>{curlLine(target, query)}</pre>
          </div>
        </div>
      </div>
      <Results outcome={outcome} target={target} query={query} onQuery={ask} />
    </>
  );
}

function NoIndex() {
  return (
    <>
      <PageHead title="Query" />
      <Empty>
        No indexes. Add an index schema, or set <code>autoIndex</code> on a source group.
      </Empty>
    </>
  );
}

/** The query as JSON, to be changed by hand. */
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
      {parsed === null && <p class="mistake">Not a valid JSON object.</p>}
      <p>
        <button type="button" disabled={parsed === null || text === written} onClick={run}>
          Run this query
        </button>{' '}
        <small class="quiet">Ctrl-Enter</small>
      </p>
    </div>
  );
}

function fieldsSeen(items: readonly Readonly<Record<string, unknown>>[]) {
  const names = new Set(items.slice(0, 20).flatMap((item) => Object.keys(item)));
  return [...names].filter((name) => !name.startsWith('_')).map((name) => ({ name, type: '' }));
}
