import { useState } from 'preact/hooks';
import type { Configuration, DryRun, Job } from '../api/answers.ts';
import { type RequestError, request, requestErrorOf, withParameters } from '../api/request.ts';
import { Difference } from '../parts/difference.tsx';
import { counted, numberText } from '../parts/format.tsx';
import { ErrorBox } from '../parts/notices.tsx';
import { Table } from '../parts/table.tsx';
import { ViewLink } from '../parts/view-links.tsx';
import type { SchemaDocument } from './outcome.tsx';

interface ApplyProps {
  readonly schema: SchemaDocument;
  readonly configuration: Configuration;
  readonly text: string;
  readonly edited: string;
  /** True if the schema has changed since the edit began. */
  readonly isOutdated: boolean;
  /** Loads the configuration again. */
  readonly reload: () => void;
  readonly onReset: () => void;
}

type Message =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'diff'; readonly diff: DryRun }
  | { readonly kind: 'error'; readonly error: RequestError };

const pollMs = 500;

/** Shows the effects of a change on all views, and applies it. It never overwrites a newer change. */
export function Apply({ schema, configuration, text, edited, isOutdated, reload, onReset }: ApplyProps) {
  const [message, setMessage] = useState<Message>({ kind: 'nothing' });
  const [isBusy, setIsBusy] = useState(false);
  const isSame = text === edited;
  const put = async (dryRun: boolean) => {
    setIsBusy(true);
    try {
      const path = withParameters('/configuration', {
        expected: configuration.digest,
        dryRun: dryRun ? true : null,
      });
      const documents = { ...configuration.documents, [schema.path]: edited };
      const { job } = await request<{ readonly job: string }>(path, { method: 'PUT', body: { documents } });
      const done = await finished(job, (state) =>
        setMessage({ kind: 'text', text: progressText(dryRun, state) }),
      );
      if (done.state === 'failed')
        setMessage({
          kind: 'text',
          text: done.failure ?? 'The job failed. See the log of the jobs process.',
        });
      else if (done.diff !== undefined) setMessage({ kind: 'diff', diff: done.diff });
      else {
        setMessage({ kind: 'text', text: 'Applied. All affected views are rebuilt.' });
        reload();
      }
    } catch (error) {
      const failure = requestErrorOf(error);
      setMessage({ kind: 'error', error: failure });
      if (failure.code === 'configurationChanged') {
        setMessage({
          kind: 'text',
          text: 'The configuration changed meanwhile and was loaded again. Check your edit, then apply it again.',
        });
        reload();
      }
    }
    setIsBusy(false);
  };
  return (
    <>
      <p class="buttons">
        <button type="button" disabled={isSame || isBusy} onClick={() => put(true)}>
          Show what would change
        </button>
        <button type="button" class="main" disabled={isSame || isBusy} onClick={() => put(false)}>
          Apply
        </button>
        <button type="button" disabled={isSame || isBusy} onClick={onReset}>
          Undo
        </button>
      </p>
      <div role="status">
        {isOutdated && (
          <p class="error-text">
            This schema has changed since you began to edit it. Applying your text replaces that change; Undo
            shows it.
          </p>
        )}
        {message.kind === 'text' && <p>{message.text}</p>}
        {message.kind === 'diff' && <DryRunTable diff={message.diff} />}
      </div>
      {message.kind === 'error' && <ErrorBox error={message.error} />}
    </>
  );
}

async function finished(id: string, onProgress: (job: Job) => void): Promise<Job> {
  for (;;) {
    const job = await request<Job>(`/jobs/${encodeURIComponent(id)}`);
    if (job.state === 'completed' || job.state === 'failed') return job;
    onProgress(job);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

function progressText(dryRun: boolean, { done, total }: Job): string {
  return `${dryRun ? 'Checking' : 'Rebuilding'}: ${numberText(done)} of ${counted(total, 'entity', 'entities')}`;
}

interface Sample {
  readonly id: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

const kinds = ['views', 'routes', 'handles', 'items'] as const;
const kindNames = { views: 'views', routes: 'routes', handles: 'handles', items: 'index items' } as const;

/** The number of changes of each kind, and sample views. */
function DryRunTable({ diff }: { readonly diff: DryRun }) {
  const { added, changed, removed } = diff.samples;
  const samples: readonly Sample[] = [...changed, ...added, ...removed];
  return (
    <>
      <Table
        label="What would change"
        heads={[
          { name: 'Kind' },
          { name: 'Added', isNumber: true },
          { name: 'Changed', isNumber: true },
          { name: 'Removed', isNumber: true },
          { name: 'Unchanged', isNumber: true },
        ]}
        rows={kinds.map((kind) => [
          kindNames[kind],
          numberText(diff[kind].added),
          numberText(diff[kind].changed),
          numberText(diff[kind].removed),
          numberText(diff[kind].same),
        ])}
      />
      {samples.map(({ id, before, after }) => (
        <details key={id} class="panel sample">
          <summary>
            <ViewLink id={id} />
          </summary>
          <Difference before={before} after={after} label={`How ${id} would change`} />
        </details>
      ))}
    </>
  );
}
