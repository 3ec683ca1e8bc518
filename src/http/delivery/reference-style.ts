/** How an answer shows its references (docs/reference/http.md "References in an answer"). */
import { formatViewId } from '../../contract/ids.ts';
import type { StoredReference } from '../../store/derived/stored-body.ts';

export interface ReferenceStyle {
  /** JSON text in front of the view of a reference, or of the null in its place; null: none. */
  before(reference: StoredReference, environmentId: string): Uint8Array | null;
  /** JSON text after it; null: none. */
  readonly after: Uint8Array | null;
  /** Path from the place of a reference to the view that is there. */
  readonly pathToView: string;
}

/** The view is in the place of its reference: `/v2`, and `_views` of a query. */
export const plainReferences: ReferenceStyle = { before: () => null, after: null, pathToView: '' };

/** The view is within `{id, view, type: "ViewReference"}`: `/v1`. */
export const wrappedReferences: ReferenceStyle = {
  before: (reference, environmentId) =>
    Buffer.from(`{"id":${JSON.stringify(idOf(reference, environmentId))},"view":`),
  after: Buffer.from(',"type":"ViewReference"}'),
  pathToView: '.view',
};

/** Id of the view that a reference names, or what its schema gave in the place of one. */
export function idOf({ target, viewId }: StoredReference, environmentId: string): string {
  return target === null ? (viewId ?? '') : formatViewId({ environmentId, ...target });
}
