import { useEffect, useRef, useState } from 'preact/hooks';
import type { Diagnostic } from '../api/answers.ts';
import { type RequestError, request, requestErrorOf, withParameters } from '../api/request.ts';

/** The progress and findings of a scan of all entities. */
export interface Scan {
  readonly diagnostics: readonly Diagnostic[];
  /** Number of scanned pages. Responses do not include the number of entities per page. */
  readonly pages: number;
  /** Where the scan continues; null at the beginning and the end. */
  readonly after: string | null;
  /** `enough`: it stopped at the maximum number of findings. `whole`: all entities were scanned. */
  readonly state: 'looking' | 'stopped' | 'enough' | 'whole';
  readonly error: RequestError | null;
}

export interface Diagnosis extends Scan {
  stop(): void;
  /** Continues after a stop or an error. */
  resume(): void;
}

/** Maximum number of findings; nobody reads more. */
const foundMax = 200;

const nothingYet: Scan = { diagnostics: [], pages: 0, after: null, state: 'looking', error: null };

interface DiagnosticsPage {
  readonly diagnostics: readonly Diagnostic[];
  readonly next: string | null;
}

/** Scans all entities, page by page. A page without findings is not necessarily the last. */
export function useDiagnostics(): Diagnosis {
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
