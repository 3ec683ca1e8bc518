/** What the headers of the ingest interface say (specification endpoint 2, contract section 3 "Raw headers"). */
import type { Call } from '../call.ts';
import type { EntityForm } from './entity-reading.ts';

/** Exactly the values that the specification names. */
const trueTexts = new Set(['true', 'TRUE', '1']);

export function forcesType(call: Call): boolean {
  return trueTexts.has(call.prefixedHeader('force-type'));
}

/** The form of a single save: raw with a Type header, simplified without. */
export function singleForm(call: Call, originId: string): EntityForm {
  const type = call.prefixedHeader('type');
  if (type === '') return { kind: 'simplified', originId };
  return {
    kind: 'raw',
    originId,
    type,
    url: textOrNull(call.prefixedHeader('url')),
    originParentId: textOrNull(call.prefixedHeader('originparentid')),
    redirects: listOf(call.prefixedHeader('redirects')),
  };
}

function textOrNull(text: string): string | null {
  return text === '' ? null : text;
}

/** A comma-separated list; white space around an item and empty items are none of it (RFC 9110, section 5.6.1). */
function listOf(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
