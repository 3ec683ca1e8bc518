/** Compares the list of routes, the order of claims and the count of clashes with the claims on URLs and handles. */
import { isDeepStrictEqual } from 'node:util';
import { groupBy } from '../lib/lists.ts';
import { type Claim, claimTag, nothingServed, type ServedClaims } from '../store/claims/claim-records.ts';
import { readServed } from '../store/claims/claims.ts';
import {
  type CompetingClaim,
  type RankedClaim,
  readCompetingClaims,
} from '../store/claims/competing-claims.ts';
import { StoredState } from '../store/derived/stored-state.ts';
import { isUrlField, keys, urlFormOfField } from '../store/keys.ts';
import { hasListed } from '../store/redis/ordered-lists.ts';
import type { Store } from '../store/store.ts';
import { changingFinding, type Finding, finding, type RouteTarget } from './finding.ts';

/** Findings for each target, in order. @throws StoreUnavailableError */
export async function checkRoutes(store: Store, targets: readonly RouteTarget[]): Promise<Finding[][]> {
  const findings = new Map<RouteTarget, Finding[]>();
  const groups = groupBy(targets, ({ tenant, environmentId }) => `${tenant}:${environmentId}`);
  await Promise.all(
    [...groups.values()].map(async (group) => {
      const [first] = group;
      if (first === undefined) return;
      const fields = group.map(({ field }) => field);
      const records = await readServed(store, first, fields);
      const counts = new StoredState(store);
      const keyOf = (kind: 'clashes' | 'hidden', field: string) =>
        keys[kind](claimTag(store, first, field), first.tenant, first.environmentId);
      for (const field of fields) {
        counts.requestField(keyOf('clashes', field), field);
        counts.requestField(keyOf('hidden', field), field);
      }
      await counts.load();
      await Promise.all(
        group.map(async (target, index) => {
          const record = records[index] ?? nothingServed;
          const competing =
            record.isContested || target.isLeftover
              ? await readCompetingClaims(store, target, target.field)
              : [];
          const claims = record.isContested ? competing.flatMap(({ claim }) => claim ?? []) : record.claims;
          const clash = counts.field(keyOf('clashes', target.field), target.field);
          const hidden = counts.field(keyOf('hidden', target.field), target.field);
          const found = [
            ...checkOrder(target, record, competing),
            ...checkClash(target, claims, Number(clash?.toString() ?? 0)),
            ...checkHidden(target, claims, Number(hidden?.toString() ?? 0)),
            ...(await checkUrls(store, target, claims)),
          ];
          findings.set(target, await ofOneState(store, target, record, found));
        }),
      );
    }),
  );
  return targets.map((target) => findings.get(target) ?? []);
}

/** Discards the findings if the record has changed meanwhile, like `entity-check.ts`. @throws StoreUnavailableError */
async function ofOneState(
  store: Store,
  target: RouteTarget,
  before: ServedClaims,
  findings: Finding[],
): Promise<Finding[]> {
  if (findings.length === 0) return findings;
  const [now = nothingServed] = await readServed(store, target, [target.field]);
  return isDeepStrictEqual(now, before) ? findings : [changingFinding(subjectOf(target))];
}

function subjectOf({ field, environmentId }: RouteTarget): string {
  const what = field.startsWith('h:') ? 'handle' : 'URL';
  return `${what} ${JSON.stringify(field.slice(2))} of environment ${environmentId}`;
}

/**
 * Checks that claims are ordered by kind, age and ids, and that the served claims follow from them
 * (docs/reference/configuration.md "URLs and domains").
 */
function checkOrder(
  target: RouteTarget,
  record: ServedClaims,
  competing: readonly CompetingClaim[],
): Finding[] {
  const subject = subjectOf(target);
  if (!record.isContested) {
    return competing.length === 0 ? [] : [finding(subject, 'has leftover claims that are no longer served')];
  }
  const claims = competing.flatMap(({ claim }) => claim ?? []);
  const isInOrder = competing.every(
    ({ ranked, claim }) => claim !== null && isDeepStrictEqual(ranked, rankedOf(claim)),
  );
  if (!isInOrder) return [finding(subject, 'its claims are not in order', JSON.stringify(claims))];
  const served = servedClaims(claims);
  const isServed =
    isDeepStrictEqual(record.claims, served.slice(0, record.claims.length)) &&
    record.hasMore === served.length > record.claims.length;
  if (isServed && claims.length > 1) return [];
  return [
    finding(subject, 'does not serve what its claims say', JSON.stringify(record), JSON.stringify(served)),
  ];
}

function rankedOf({ host, kind, sinceStamp, view }: Claim): RankedClaim {
  return { host, kind, sinceStamp, view };
}

function checkClash(target: RouteTarget, claims: readonly Claim[], counted: number): Finding[] {
  const expected = claims.length > 1 ? claims.length : 0;
  if (counted === expected) return [];
  return [finding(subjectOf(target), `is counted as claimed by ${counted} instead of ${expected}`)];
}

/** Checks the count of redirects in the list of routes that are not served. */
function checkHidden(target: RouteTarget, claims: readonly Claim[], counted: number): Finding[] {
  const expected = isUrlField(target.field) ? firstOfHosts(claims).length - servedClaims(claims).length : 0;
  if (counted === expected) return [];
  return [finding(subjectOf(target), `has ${counted} hidden redirects counted instead of ${expected}`)];
}

async function checkUrls(store: Store, target: RouteTarget, claims: readonly Claim[]): Promise<Finding[]> {
  const { tenant, environmentId, field } = target;
  const form = urlFormOfField(field);
  if (form === null) return [];
  const served = new Set(firstOfHosts(claims).map(({ display }) => display));
  const urls = [...new Set([...served, ...target.urls])];
  const key = keys.routes(claimTag(store, target, field), tenant, environmentId, form);
  const listed = await hasListed(store, key, urls);
  return urls.flatMap((url, index) => {
    const subject = `URL ${JSON.stringify(url)} of environment ${environmentId}`;
    if (served.has(url) && !listed[index]) return [finding(subject, 'is missing from the list of routes')];
    if (!served.has(url) && listed[index])
      return [finding(subject, 'is in the list of routes, but is not served')];
    return [];
  });
}

/** The served claims of a field, from all of its claims in order. A page on all hosts hides redirects. */
export function servedClaims(claims: readonly Claim[]): Claim[] {
  const firsts = firstOfHosts(claims);
  const isPageEverywhere = firsts.some(({ host, kind }) => host === null && kind === 'page');
  return firsts.filter(({ kind }) => kind === 'page' || !isPageEverywhere);
}

function firstOfHosts(claims: readonly Claim[]): Claim[] {
  const firstOfHost = new Map<string | null, Claim>();
  for (const claim of claims) if (!firstOfHost.has(claim.host)) firstOfHost.set(claim.host, claim);
  return [...firstOfHost.values()];
}
