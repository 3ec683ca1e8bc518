/** What an answer of delivery says to the caches before the front (docs/guide/caches.md). */
import type { ClientPrincipal } from '../../config/configuration.ts';
import type { HeaderField } from '../answer.ts';
import { headLines } from '../uws/reply.ts';
import type { Delivered } from './deliver.ts';

/** Errors, and answers that say that nothing is there: what comes to be there must be seen immediately. */
export const notStored: HeaderField = ['Cache-Control', 'no-store'];
/** The API key decides what is in an answer, so without a word of the client a cache that others share keeps none. */
const forOneReader: HeaderField = ['Cache-Control', 'private, no-cache'];

const notStoredLines = headLines([notStored]);
const forOneReaderLines = headLines([forOneReader]);

/** The header lines of an answer to this client. Its tags are made only where the client wants them. */
export function cachingLines({ cacheControl, cacheTags }: ClientPrincipal, delivered: Delivered): string {
  const control = delivered.status === 404 ? notStoredLines : controlLines(cacheControl);
  if (cacheTags === null) return control;
  return control + headLines([[cacheTags.name, delivered.tags().join(cacheTags.separator)]]);
}

function controlLines(cacheControl: string | null): string {
  return cacheControl === null ? forOneReaderLines : headLines([['Cache-Control', cacheControl]]);
}
