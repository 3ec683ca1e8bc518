import { useEffect, useRef, useState } from 'preact/hooks';
import type { Diagnostic, DiagnosticsPage } from '../api/answers.ts';
import { type RequestError, request, requestErrorOf, withParameters } from '../api/request.ts';
import { viewHref } from '../parts/addresses.ts';
import { counted, numberText } from '../parts/format.tsx';
import { Empty, ErrorBox, State } from '../parts/notices.tsx';
import { entityHrefOf, useTenant } from '../parts/tenant-context.ts';

const shownMax = 10;

/** Findings that are valid but probably mistakes. */
export function Diagnostics() {
  const diagnosis = useDiagnostics();
  const { diagnostics, state, error, resume } = diagnosis;
  const isComplete = state === 'whole';
  return (
    <section>
      <h2>
        Diagnostics{' '}
        {(isComplete || diagnostics.length > 0) && (
          <State means={diagnostics.length > 0 ? 'warn' : 'good'}>
            {numberText(diagnostics.length)}
            {!isComplete && '+'}
          </State>
        )}
      </h2>
      {error === null ? <Progress diagnosis={diagnosis} /> : <ErrorBox error={error} retry={resume} />}
      {isComplete && diagnostics.length === 0 && <Empty>No findings.</Empty>}
      {diagnostics.length > 0 && (
        <ul class="rows">
          {diagnostics.slice(0, shownMax).map((diagnostic, at) => (
            <li key={at}>
              <Finding diagnostic={diagnostic} />
            </li>
          ))}
          {diagnostics.length > shownMax && (
            <li class="quiet">
              and {numberText(diagnostics.length - shownMax)} more: the command <code>diagnostics</code> lists
              all
            </li>
          )}
        </ul>
      )}
    </section>
  );
}

/** The progress of the scan in pages, because the number of remaining entities is unknown. */
function Progress({ diagnosis: { pages, state, stop, resume } }: { readonly diagnosis: Diagnosis }) {
  if (state === 'whole') return null;
  const far = counted(pages, 'page');
  if (state === 'enough')
    return <p class="quiet">The scan stopped after {far} of entities, because it has enough findings.</p>;
  const isLooking = state === 'looking';
  return (
    <p class="how-far">
      {isLooking && <progress aria-label="Scanning entities" />}
      <span class="quiet">
        {isLooking ? `Scanning entities: ${far} so far` : `Stopped after ${far} of entities`}
      </span>
      <button type="button" onClick={isLooking ? stop : resume}>
        {isLooking ? 'Stop' : 'Continue'}
      </button>
    </p>
  );
}

function Finding({ diagnostic }: { readonly diagnostic: Diagnostic }) {
  const { tenant } = useTenant();
  const { kind, schema, place, message, viewId, entityId, count = 1 } = diagnostic;
  const entityHref = entityId === undefined ? null : entityHrefOf(tenant, entityId);
  const href = viewId === undefined ? entityHref : viewHref(viewId);
  return (
    <>
      <span>{message}</span>{' '}
      <small class="quiet">
        {[kind, schema, place].filter((part) => part !== undefined).join(' · ')}
        {count > 1 && ` · ${counted(count, 'time')}`}
        {href !== null && (
          <>
            {' · '}
            <a href={href}>{count > 1 ? 'example' : 'open'}</a>
          </>
        )}
      </small>
    </>
  );
}

/** The progress and findings of a scan of all entities. */
interface Scan {
  readonly diagnostics: readonly Diagnostic[];
  /** Number of scanned pages. Responses do not include the number of entities per page. */
  readonly pages: number;
  /** Where the scan continues; null at the beginning and the end. */
  readonly after: string | null;
  /** `enough`: it stopped at the maximum number of findings. `whole`: all entities were scanned. */
  readonly state: 'looking' | 'stopped' | 'enough' | 'whole';
  readonly error: RequestError | null;
}

interface Diagnosis extends Scan {
  stop(): void;
  /** Continues after a stop or an error. */
  resume(): void;
}

/** Maximum number of findings; nobody reads more. */
const foundMax = 200;

const nothingYet: Scan = { diagnostics: [], pages: 0, after: null, state: 'looking', error: null };

/** Scans all entities, page by page. A page without findings is not necessarily the last. */
function useDiagnostics(): Diagnosis {
  const [look, setLook] = useState(nothingYet);
  const running = useRef(new AbortController());
  const resume = () => {
    running.current = new AbortController();
    void scan({ ...look, state: 'looking', error: null }, running.current.signal, setLook);
  };
  const stop = () => {
    running.current.abort();
    setLook((former) => ({ ...former, state: 'stopped' }));
  };
  useEffect(() => {
    resume();
    return () => running.current.abort();
  }, []);
  return { ...look, stop, resume };
}

/** @param show called with each state of the scan, until `signal` is aborted */
async function scan(from: Scan, signal: AbortSignal, show: (look: Scan) => void): Promise<void> {
  let look = from;
  try {
    while (look.state === 'looking') {
      show(look);
      const path = withParameters('/diagnostics', { after: look.after });
      const page = await request<DiagnosticsPage>(path, { signal });
      if (signal.aborted) return;
      look = withPage(look, page);
    }
    show(look);
  } catch (error) {
    if (signal.aborted) return;
    show({ ...look, state: 'stopped', error: requestErrorOf(error) });
  }
}

function withPage(look: Scan, page: DiagnosticsPage): Scan {
  const diagnostics = merged(look.diagnostics, page.diagnostics);
  const more = diagnostics.length < foundMax ? 'looking' : 'enough';
  const state = page.next === null ? 'whole' : more;
  return { ...look, diagnostics, pages: look.pages + 1, after: page.next, state };
}

/** Merges equal findings of several pages. */
function merged(former: readonly Diagnostic[], more: readonly Diagnostic[]): Diagnostic[] {
  const byFinding = new Map(former.map((one) => [findingOf(one), one]));
  for (const one of more) {
    const key = findingOf(one);
    const known = byFinding.get(key);
    byFinding.set(
      key,
      known === undefined ? one : { ...known, count: (known.count ?? 1) + (one.count ?? 1) },
    );
  }
  return [...byFinding.values()];
}

function findingOf({ kind, schema, place, message }: Diagnostic): string {
  return JSON.stringify([kind, schema, place, message]);
}
