/** The stored form of claims on URLs and handles: one claim, and the record of a claim field. */
import type { EntityRef } from '../../contract/ids.ts';
import { pack, unpack } from '../codec/pack.ts';
import { longId, shortId } from '../codec/short-id.ts';
import type { EnvironmentScope } from '../environment-scope.ts';
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

/** Where a redirect goes; a page goes nowhere. */
type PackedRedirect = string | typeof isPage | typeof isRedirectSomewhere;

const isPage = false;

/** Claims that are only dropped do not say where they went. */
const isRedirectSomewhere = true;

const onAllHosts = false;

/** See `packClaim`. Most are a page on all hosts, which is written as its field: what stands for that is left out at the end. */
type PackedClaim = [
  sinceStamp: number,
  /** From `shortId`. */
  sourceId: string,
  alias: string,
  originId: string,
  redirect?: PackedRedirect,
  host?: string | typeof onAllHosts,
  /** Absent: what is in the claim field, after its mark. */
  display?: string,
];

/** The served claims of a claim field. */
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
  const packed: PackedClaim = [sinceStamp, shortId(view.sourceId), view.alias, view.originId];
  const isAsField = display === textOfField(field);
  if (kind === 'redirect' || host !== null || !isAsField) {
    packed.push(kind === 'page' ? isPage : (redirect ?? isRedirectSomewhere));
  }
  if (host !== null || !isAsField) packed.push(host ?? onAllHosts);
  if (!isAsField) packed.push(display);
  return pack(packed);
}

/** The record of a claim field: the one claim, or those that are served and whether there are more. */
export function unpackServed(field: string, stored: Buffer | null | undefined): ServedClaims {
  if (!stored) return nothingServed;
  const record = unpack<PackedClaim | ContestedRecord>(stored);
  if (!isContested(record)) return { claims: [claimOf(field, record)], isContested: false, hasMore: false };
  const claims = record.filter((one) => typeof one !== 'boolean').map((one) => claimOf(field, one));
  return { claims, isContested: true, hasMore: record.at(-1) === true };
}

/** Claims, and after them whether there are more. */
type ContestedRecord = (PackedClaim | boolean)[];

function isContested(record: PackedClaim | ContestedRecord): record is ContestedRecord {
  return Array.isArray(record[0]) || typeof record[0] === 'boolean';
}

/** A claim as `packClaim` packs it. @param field that it claims, also where it is under another one */
export function unpackClaim(field: string, stored: Buffer): Claim {
  return claimOf(field, unpack<PackedClaim>(stored));
}

function claimOf(field: string, packed: PackedClaim): Claim {
  const [sinceStamp, sourceId, alias, originId, redirect = isPage, host = onAllHosts, display] = packed;
  return {
    host: host === onAllHosts ? null : host,
    kind: redirect === isPage ? 'page' : 'redirect',
    sinceStamp,
    view: { sourceId: longId(sourceId), alias, originId },
    display: display ?? textOfField(field),
    redirect: typeof redirect === 'string' ? redirect : null,
  };
}

export interface ClaimWrite {
  /** `renew` is for repairs: it derives again what follows from a claim, if the claim is there. */
  readonly action: 'put' | 'drop' | 'renew';
  readonly scope: EnvironmentScope;
  /** From `claimField`. */
  readonly field: string;
  readonly claim: Claim;
  /** The commit reports the view anyway, so the claim leaves no trace in the change log. */
  readonly isReported?: boolean;
}
