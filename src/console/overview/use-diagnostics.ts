import { useEffect, useState } from 'preact/hooks';
import type { Diagnostic } from '../api/answers.ts';
import { RequestError, request, withParameters } from '../api/request.ts';

export interface FoundDiagnostics {
  readonly diagnostics: readonly Diagnostic[];
  /** Whether all entities were looked at. */
  readonly isWhole: boolean;
  readonly error: RequestError | null;
}

/** More findings than anybody reads. */
const foundMax = 200;

interface DiagnosticsPage {
  readonly diagnostics: readonly Diagnostic[];
  readonly next: string | null;
}

/** Looks through all entities, page by page. A page may find nothing and not be the last. */
export function useDiagnostics(): FoundDiagnostics {
  const [found, setFound] = useState<FoundDiagnostics>({ diagnostics: [], isWhole: false, error: null });
  useEffect(() => {
    const stop = new AbortController();
    const look = async () => {
      let diagnostics: readonly Diagnostic[] = [];
      let after: string | null = null;
      do {
        const path: string = withParameters('/diagnostics', { after });
        const page: DiagnosticsPage = await request(path, { signal: stop.signal });
        diagnostics = merged(diagnostics, page.diagnostics);
        after = page.next;
        setFound({ diagnostics, isWhole: after === null, error: null });
      } while (after !== null && diagnostics.length < foundMax);
    };
    look().catch((error: unknown) => {
      if (stop.signal.aborted) return;
      const told = error instanceof RequestError ? error : new RequestError(0, String(error));
      setFound((former) => ({ ...former, error: told }));
    });
    return () => stop.abort();
  }, []);
  return found;
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
