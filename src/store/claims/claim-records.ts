/** What is stored of claims on URLs and handles: one claim, and the record of a claim field. */
import type { EntityRef } from '../../contract/ids.ts';
import { pack, unpack } from '../codec/pack.ts';
import { longId, shortId } from '../codec/short-id.ts';
import { textOfField } from '../keys.ts';

/** One claim on a URL path or a handle, as kept under its key. */
export interface Claim {
  /** Host of an absolute route, lower-cased; null for a relative route and for handles. */
  readonly host: string | null;
  readonly kind: 'page' | 'redirect';
  /** Stamp since which the entity has made this claim (microseconds). */
  readonly sinceStamp: number;
  readonly view: EntityRef & { readonly alias: string };
  /** The URL or handle as the view wrote it. */
  readonly display: string;
  /** URL that a redirect goes to; null for a page. */
  readonly redirect: string | null;
}

/** Stands for a display that is what stands in the claim field, behind its mark. */
const asField = true;

/** See `packClaim`. */
type PackedClaim = [
  host: string | false,
  kind: 0 | 1,
  sinceStamp: number,
  /** From `shortId`. */
  sourceId: string,
  alias: string,
  originId: string,
  display: string | typeof asField,
  redirect: string | false,
];

/** What is served on a claim field. */
export interface ServedClaims {
  /** The first claim of each host, best first; no redirects where a page answers on every host. */
  readonly claims: readonly Claim[];
  /** Several views claim the field. `readClaimFields` gives all their claims. */
  readonly isContested: boolean;
  /** More hosts have a claim than a record holds; `competing-claims.ts` reads them. */
  readonly hasMore: boolean;
}

export const nothingServed: ServedClaims = { claims: [], isContested: false, hasMore: false };

/** The record of a field that has this claim alone, as most fields do. Scripts compare its bytes, and pack none themselves. */
export function packClaim(field: string, { host, kind, sinceStamp, view, display, redirect }: Claim): Buffer {
  const packed: PackedClaim = [
    host ?? false,
    kind === 'page' ? 0 : 1,
    sinceStamp,
    shortId(view.sourceId),
    view.alias,
    view.originId,
    display === textOfField(field) ? asField : display,
    redirect ?? false,
  ];
  return pack([packed]);
}

/** The record of a claim field: the one claim, or those that are served and whether there are more. */
export function unpackServed(field: string, stored: Buffer | null | undefined): ServedClaims {
  if (!stored) return nothingServed;
  const packed = unpack<(PackedClaim | boolean)[]>(stored);
  const last = packed.at(-1);
  const claims = packed.filter((one) => typeof one !== 'boolean').map((one) => claimOf(field, one));
  return { claims, isContested: typeof last === 'boolean', hasMore: last === true };
}

/** A claim as `packClaim` packs it. @param field that it claims, also where it stands under another one */
export function unpackClaim(field: string, stored: Buffer): Claim {
  const [packed] = unpack<[PackedClaim]>(stored);
  return claimOf(field, packed);
}

function claimOf(
  field: string,
  [host, kind, sinceStamp, sourceId, alias, originId, display, redirect]: PackedClaim,
): Claim {
  return {
    host: host === false ? null : host,
    kind: kind === 0 ? 'page' : 'redirect',
    sinceStamp,
    view: { sourceId: longId(sourceId), alias, originId },
    display: display === asField ? textOfField(field) : display,
    redirect: redirect === false ? null : redirect,
  };
}
