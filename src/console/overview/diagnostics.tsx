import type { Diagnostic } from '../api/answers.ts';
import { viewHref } from '../parts/addresses.ts';
import { counted, numberText } from '../parts/format.tsx';
import { Empty, ErrorBox, State } from '../parts/notices.tsx';
import { entityHrefOf, useTenant } from '../parts/tenant-context.ts';
import { type Diagnosis, useDiagnostics } from './use-diagnostics.ts';

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
