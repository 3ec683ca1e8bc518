/**
 * Finds the claims on the URL and the handles of a delivery request, and decides which of several claims on one URL is served
 * (docs/reference/configuration.md "URLs and domains"), even if more hosts claim it than the record of its path holds.
 */

import type { ClientPrincipal, Domain } from '../../config/configuration.ts';
import { domainOf, routeAnswers } from '../../config/urls/domains.ts';
import { candidatePaths, type NormalUrl, normalizeUrl, type UrlForm } from '../../config/urls/url.ts';
import { compareCodePoints } from '../../lib/code-points.ts';
import type { Claim, ServedClaims } from '../../store/claims/claim-records.ts';
import {
  readFirstOfHostnames,
  readFirstOfHosts,
  scanFirstOfHosts,
} from '../../store/claims/competing-claims.ts';
import { fieldOfClaims } from '../../store/claims/read-claims.ts';
import { claimSubject, subjectKey } from '../../store/derived/subjects.ts';
import type { EnvironmentScope } from '../../store/environment-scope.ts';
import { claimField } from '../../store/keys.ts';
import type { HashField } from '../../store/redis/field-reader.ts';
import type { Store } from '../../store/store.ts';
import type { DeliveryRequest } from './delivery-request.ts';

/** The first read of a delivery request. */
export class ClaimsToRead {
  readonly scope: EnvironmentScope;
  readonly url: NormalUrl | null;
  /**
   * Fields of the URL: for each form that claims may have, in the order in which they must be read, one for each path that can
   * answer.
   */
  readonly urlFields: readonly string[];
  readonly #pathCount: number;
  /** The fields of the URL, then those of the handles. */
  readonly claimFields: readonly string[];
  /** Where the claims are stored, in the order of the claim fields. */
  readonly places: readonly HashField[];

  constructor(
    store: Store,
    readonly principal: ClientPrincipal,
    readonly request: DeliveryRequest,
    urlForms: readonly UrlForm[],
  ) {
    const { tenant, environment } = principal;
    const scope = { tenant: tenant.alias, environmentId: environment.id };
    this.scope = scope;
    this.url = request.url === null ? null : normalizeUrl(request.url);
    const paths = this.url === null ? [] : candidatePaths(this.url.path);
    this.#pathCount = paths.length;
    this.urlFields = urlForms.flatMap((form) => paths.map((path) => claimField.url(path, form)));
    this.claimFields = [...this.urlFields, ...request.handles.map(claimField.handle)];
    this.places = this.claimFields.map((field) => fieldOfClaims(store, scope, field));
  }

  /** Fields from which claims are moving away. Their reads must be done before the others begin. */
  get placesToReadFirst(): readonly HashField[] {
    return this.places.slice(0, this.urlFields.length - this.#pathCount);
  }

  /** Subject keys of the claims. */
  claimKeys(): string[] {
    return this.claimFields.map((field) => subjectKey(claimSubject(this.scope, field)));
  }
}

const everyHost = '*';

/**
 * The claim that answers a request for a URL on a host. A page comes before a redirect, then an absolute claim before a
 * relative one, then the latest.
 * @param claims in the order of the store: pages before redirects, the latest first
 * @param host null for a relative URL
 */
export function servedClaim(
  claims: readonly Claim[],
  host: string | null,
  domains: readonly Domain[],
): Claim | null {
  let served: Claim | null = null;
  for (const claim of claims) {
    if (!routeAnswers(claim.host, host, domains)) continue;
    if (served === null || (served.kind === claim.kind && served.host === null && claim.host !== null)) {
      served = claim;
    }
  }
  return served;
}

/** A request for a URL, and where its claims are stored. */
export interface UrlRequest {
  readonly store: Store;
  readonly scope: EnvironmentScope;
  readonly url: NormalUrl;
  readonly domains: readonly Domain[];
}

/**
 * The claim that is served; a promise if the records of the paths are not enough. A claim with the query string of the request
 * takes precedence.
 * @param fields for each form that claims may have, one for each path that can answer
 * @param records claims of the fields
 * @throws StoreUnavailableError
 */
export function claimOnUrl(
  request: UrlRequest,
  fields: readonly string[],
  records: readonly ServedClaims[],
): Claim | null | Promise<Claim | null> {
  const paths = candidatePaths(request.url.path);
  if (paths.length === 1) return claimOnPath(request, fields, records);
  const claimOn = (path: number) => {
    const isOfPath = (_: unknown, at: number) => at % paths.length === path;
    return claimOnPath(request, fields.filter(isOfPath), records.filter(isOfPath));
  };
  const found = claimOn(0);
  if (found instanceof Promise) return found.then((claim) => claim ?? claimOn(1));
  return found ?? claimOn(1);
}

/** @param fields of the path: several while claims move from one form to another */
function claimOnPath(
  request: UrlRequest,
  fields: readonly string[],
  records: readonly ServedClaims[],
): Claim | null | Promise<Claim | null> {
  const [field, ...others] = fields;
  const [record] = records;
  if (field === undefined || record === undefined) return null;
  return others.length === 0 ? claimOnField(request, field, record) : bestOf(request, fields, records);
}

async function bestOf(
  request: UrlRequest,
  fields: readonly string[],
  records: readonly ServedClaims[],
): Promise<Claim | null> {
  const claims = await Promise.all(
    records.map((record, at) => claimOnField(request, fields[at] ?? '', record)),
  );
  const sorted = claims.filter((claim) => claim !== null).sort(compareServed);
  return servedClaim(sorted, request.url.host, request.domains);
}

/** The order of the store: pages before redirects, the latest first, then by the alias of their schemas. */
function compareServed(a: Claim, b: Claim): number {
  if (a.kind !== b.kind) return a.kind === 'page' ? -1 : 1;
  return b.sinceStamp - a.sinceStamp || compareCodePoints(a.view.alias, b.view.alias);
}

/**
 * The record is sorted: pages before redirects, the latest first. So if it has a matching claim on a host, that is the best
 * one.
 */
function claimOnField(
  request: UrlRequest,
  field: string,
  record: ServedClaims,
): Claim | null | Promise<Claim | null> {
  const found = servedClaim(record.claims, request.url.host, request.domains);
  const isCertain = !record.hasMore || (found !== null && found.host !== null);
  return isCertain ? found : readClaimOnField(request, field);
}

/** Reads only the claims that can matter for the domain, however many hosts have claims. */
async function readClaimOnField(request: UrlRequest, field: string): Promise<Claim | null> {
  const { store, scope, domains } = request;
  const { host } = request.url;
  const domain = domainOf(domains, host);
  if (domain === null) return null;
  const [[everywhere = null], onHost] = await Promise.all([
    readFirstOfHosts(store, scope, [{ field, host: null }]),
    domain.hostnames.includes(everyHost)
      ? firstInDomain(request, field)
      : firstOnHostnames(request, field, domain),
  ]);
  const claims = [everywhere, onHost].filter((claim) => claim !== null);
  return servedClaim(
    claims.sort((a, b) => (a.kind === b.kind ? 0 : a.kind === 'page' ? -1 : 1)),
    host,
    domains,
  );
}

/** The best claim on a host of a domain that matches every host. Hosts of other domains are skipped. */
async function firstInDomain(
  { store, scope, url: { host }, domains }: UrlRequest,
  field: string,
): Promise<Claim | null> {
  for await (const claims of scanFirstOfHosts(store, scope, field)) {
    const found = claims.find((claim) => claim.host !== null && routeAnswers(claim.host, host, domains));
    if (found !== undefined) return found;
  }
  return null;
}

/** The best claim on a host that the domain lists. If two domains list a host, it belongs to the first. */
async function firstOnHostnames(
  { store, scope, domains }: UrlRequest,
  field: string,
  domain: Domain,
): Promise<Claim | null> {
  const hostnames = domain.hostnames.filter((name) => domainOf(domains, name) === domain);
  const [first = null] = await readFirstOfHostnames(store, scope, field, hostnames);
  return first;
}
