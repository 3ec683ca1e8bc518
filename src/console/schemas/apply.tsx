import { useState } from 'preact/hooks';
import type { Configuration } from '../api/answers.ts';
import { RequestError, request, withParameters } from '../api/request.ts';
import { ErrorBox } from '../parts/notices.tsx';
import type { SchemaDocument } from './documents.ts';
import { type DryRun, DryRunTable } from './dry-run.tsx';

interface ApplyProps {
  readonly schema: SchemaDocument;
  readonly configuration: Configuration;
  readonly text: string;
  readonly edited: string;
  readonly onApplied: () => void;
  readonly onReset: () => void;
}

interface Job {
  readonly state: 'waiting' | 'active' | 'completed' | 'failed';
  readonly done: number;
  readonly total: number;
  readonly diff?: DryRun;
  readonly failure?: string;
}

type Told =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'diff'; readonly diff: DryRun }
  | { readonly kind: 'error'; readonly error: RequestError };

const pollMs = 500;

/** Says what the change would do to all that is made, and makes it. Nobody's newer change is overwritten. */
export function Apply({ schema, configuration, text, edited, onApplied, onReset }: ApplyProps) {
  const [told, setTold] = useState<Told>({ kind: 'nothing' });
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
        setTold({ kind: 'text', text: progressText(dryRun, state) }),
      );
      if (done.state === 'failed')
        setTold({ kind: 'text', text: done.failure ?? 'The job failed. See the log of the jobs process.' });
      else if (done.diff !== undefined) setTold({ kind: 'diff', diff: done.diff });
      else {
        setTold({ kind: 'text', text: 'Applied. All affected views are rebuilt.' });
        onApplied();
      }
    } catch (error) {
      setTold({
        kind: 'error',
        error: error instanceof RequestError ? error : new RequestError(0, String(error)),
      });
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
        {told.kind === 'text' && <p>{told.text}</p>}
        {told.kind === 'diff' && <DryRunTable diff={told.diff} />}
      </div>
      {told.kind === 'error' && <ErrorBox error={told.error} />}
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
  return `${dryRun ? 'Checking' : 'Rebuilding'}: ${done} of ${total} entities`;
}
