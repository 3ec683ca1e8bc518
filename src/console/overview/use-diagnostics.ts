import { useEffect, useRef, useState } from 'preact/hooks';
import type { Diagnostic } from '../api/answers.ts';
import { RequestError, request, withParameters } from '../api/request.ts';

/** How far a look through all entities is, and what it found. */
export interface Look {
  readonly diagnostics: readonly Diagnostic[];
  /** Pages of entities that were looked at. An answer does not say how many entities a page had. */
  readonly pages: number;
  /** After which place it goes on; null before the beginning, and after the end. */
  readonly after: string | null;
  /** `enough`: it has more findings than anybody reads. `whole`: all entities were looked at. */
  readonly state: 'looking' | 'stopped' | 'enough' | 'whole';
  readonly error: RequestError | null;
}

export interface Diagnosis extends Look {
  stop(): void;
  /** After a stop or an error: from where it was. */
  goOn(): void;
}

/** More findings than anybody reads. */
const foundMax = 200;

const nothingYet: Look = { diagnostics: [], pages: 0, after: null, state: 'looking', error: null };

interface DiagnosticsPage {
  readonly diagnostics: readonly Diagnostic[];
  readonly next: string | null;
}

/** Looks through all entities, page by page. A page may find nothing and not be the last. */
export function useDiagnostics(): Diagnosis {
  const [look, setLook] = useState(nothingYet);
  const running = useRef(new AbortController());
  const goOn = () => {
    running.current = new AbortController();
    void lookOn({ ...look, state: 'looking', error: null }, running.current.signal, setLook);
  };
  const stop = () => {
    running.current.abort();
    setLook((former) => ({ ...former, state: 'stopped' }));
  };
  useEffect(() => {
    goOn();
    return () => running.current.abort();
  }, []);
  return { ...look, stop, goOn };
}

/** @param show called with each state of the look, until `signal` is aborted */
async function lookOn(from: Look, signal: AbortSignal, show: (look: Look) => void): Promise<void> {
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
    const told = error instanceof RequestError ? error : new RequestError(0, String(error));
    show({ ...look, state: 'stopped', error: told });
  }
}

function withPage(look: Look, page: DiagnosticsPage): Look {
  const diagnostics = merged(look.diagnostics, page.diagnostics);
  const more = diagnostics.length < foundMax ? 'looking' : 'enough';
  const state = page.next === null ? 'whole' : more;
  return { ...look, diagnostics, pages: look.pages + 1, after: page.next, state };
}

/** The same finding of several pages is one. */
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
