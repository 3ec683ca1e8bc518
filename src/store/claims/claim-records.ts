/** Where claims on URLs and handles are stored, and in which form: single claims, and records of claim fields. */
import type { EntityRef } from '../../contract/ids.ts';
import { pack, unpack } from '../codec/pack.ts';
import { longId, shortId } from '../codec/short-id.ts';
import { claimSubject } from '../derived/subjects.ts';
import { textOfField } from '../keys.ts';
import type { EnvironmentScope } from '../scopes.ts';
import type { Store } from '../store.ts';

/** A claim on a URL path or a handle. */
export interface Claim {
  /** Lowercase host of an absolute route; null for a relative route and for handles. */
  readonly host: string | null;
  readonly kind: 'page' | 'redirect';
  /** Stamp at which the entity began to make this claim, in microseconds. */
  readonly sinceStamp: number;
  readonly view: EntityRef & { readonly alias: string };
  /** The URL or handle as the view wrote it. */
  readonly display: string;
  /** Target URL of a redirect; null for a page. */
  readonly redirect: string | null;
}

/** The partition of a claim field. */
export function claimPartition({ partitions }: Store, scope: EnvironmentScope, field: string): number {
  return partitions.ofText(claimSubject(scope, field));
}

/** Tag of the partition of a claim field. */
export function claimTag(store: Store, scope: EnvironmentScope, field: string): string {
  return store.partitions.tag(claimPartition(store, scope, field));
}

/** The target of a redirect; `isPage` for a page. */
type PackedRedirect = string | typeof isPage | typeof isRedirectSomewhere;

const isPage = false;

/** Claims that are only dropped have no target. */
const isRedirectSomewhere = true;

const onAllHosts = false;

/**
 * See `packClaim`. Default values at the end are omitted: most claims are pages on all hosts, with the text of their field.
 */
type PackedClaim = [
  sinceStamp: number,
  /** From `shortId`. */
  sourceId: string,
  alias: string,
  originId: string,
  redirect?: PackedRedirect,
  host?: string | typeof onAllHosts,
  /** Absent: the text of the claim field, after its prefix. */
  display?: string,
];

/** The served claims of a claim field. */
export interface ServedClaims {
  /** The first claim of each host, sorted by rank; without redirects if a page matches on every host. */
  readonly claims: readonly Claim[];
  /** True if several views claim the field. `readClaimFields` returns all their claims. */
  readonly isContested: boolean;
  /** True if more hosts have claims than fit into a record; `competing-claims.ts` reads them. */
  readonly hasMore: boolean;
}

export const nothingServed: ServedClaims = { claims: [], isContested: false, hasMore: false };

/**
 * The record of a field with only this claim, as for most fields. Scripts compare these bytes and do not pack claims
 * themselves.
 */
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

/** Unpacks the record of a claim field: its only claim, or the served claims and whether there are more. */
export function unpackServed(field: string, stored: Buffer | null | undefined): ServedClaims {
  if (!stored) return nothingServed;
  const record = unpack<PackedClaim | ContestedRecord>(stored);
  if (!isContested(record)) return { claims: [claimOf(field, record)], isContested: false, hasMore: false };
  const claims = record.filter((one) => typeof one !== 'boolean').map((one) => claimOf(field, one));
  return { claims, isContested: true, hasMore: record.at(-1) === true };
}

/** Claims, followed by whether there are more. */
type ContestedRecord = (PackedClaim | boolean)[];

function isContested(record: PackedClaim | ContestedRecord): record is ContestedRecord {
  return Array.isArray(record[0]) || typeof record[0] === 'boolean';
}

/** Unpacks a claim from `packClaim`. @param field the claimed field, even if it is stored in another one */
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
  /** `renew` is for repairs: it recomputes what is derived from a claim, if the claim exists. */
  readonly action: 'put' | 'drop' | 'renew';
  readonly scope: EnvironmentScope;
  /** From `claimField`. */
  readonly field: string;
  readonly claim: Claim;
  /** True if the commit reports the view anyway, so that the claim leaves no trace in the change log. */
  readonly isReported?: boolean;
}
