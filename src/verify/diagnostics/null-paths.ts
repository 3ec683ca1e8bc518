/**
 * Finds paths in expressions that are null for every entity of a type, because a name is misspelt or no source sends it.
 * Schemas are compiled with `observe`, which then receives every value that they read.
 */
import { parseDocumentPath } from '../../config/document-path.ts';
import { formatEntityId } from '../../contract/ids.ts';
import type { PathObserver, PlaceInFile } from '../../schemas/language/scope.ts';
import type { LocatedDiagnostic } from './located-diagnostic.ts';
import type { TypeCounts } from './type-counts.ts';

interface PathUse {
  readonly at: PlaceInFile;
  readonly path: string;
  readonly sourceId: string;
  readonly type: string;
  /** The first entity that the path was evaluated for. */
  readonly originId: string;
  hasValue: boolean;
}

export class NullPaths {
  readonly #uses = new Map<string, PathUse>();

  readonly observe: PathObserver = (at, path, evaluate) => (frame) => {
    const value = evaluate(frame);
    const { sourceId, type, originId } = frame.build.input.entity;
    const key = `${at.file} ${at.path} ${path} ${sourceId} ${type}`;
    const known = this.#uses.get(key);
    if (known === undefined) {
      this.#uses.set(key, { at, path, sourceId, type, originId, hasValue: value !== null });
    } else if (value !== null) known.hasValue = true;
    return value;
  };

  *findings(counts: TypeCounts): Iterable<LocatedDiagnostic> {
    for (const { at, path, sourceId, type, originId, hasValue } of this.#uses.values()) {
      const parsed = parseDocumentPath(at.file);
      if (hasValue || parsed === null || !('alias' in parsed)) continue;
      const { tenant, alias } = parsed;
      const what = JSON.stringify(type);
      yield {
        kind: 'alwaysNull',
        tenant,
        ...(parsed.kind === 'partials' ? {} : { schema: alias }),
        place: parsed.kind === 'partials' ? `partials/${alias} ${at.path}` : at.path,
        entityId: formatEntityId({ sourceId, originId }),
        message: `\`${path}\` is null for every entity of the type ${what}: is the name correct, and does any source send it?`,
        count: counts.of(tenant, sourceId, type),
      };
    }
  }
}
