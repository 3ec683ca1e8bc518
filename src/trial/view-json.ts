/** The JSON of a view for people, with `{"$view": id}` in place of each reference. */
import { formatViewId } from '../contract/ids.ts';
import type { Json } from '../contract/json.ts';
import type { ReferencePiece, ViewBody } from '../schemas/build/build-outcome.ts';
import type { StoredBody } from '../store/derived/stored-body.ts';

/** @param body built or stored */
export function viewJson(body: ViewBody | StoredBody, environmentId: string): Json {
  const { references } = body;
  const pieces = body.texts.map((text, at) => {
    const reference = references[at];
    return text.toString() + (reference === undefined ? '' : referenceText(reference, environmentId));
  });
  return JSON.parse(pieces.join('')) as Json;
}

type Reference = StoredBody['references'][number] | ReferencePiece;

function referenceText(reference: Reference, environmentId: string): string {
  const viewId = referenceId(reference, environmentId);
  return viewId === null ? 'null' : JSON.stringify({ $view: viewId });
}

/** Id of the view that a reference points to; null if it points to none. */
export function referenceId({ target, viewId }: Reference, environmentId: string): string | null {
  return target === null ? viewId : formatViewId({ environmentId, ...target });
}
