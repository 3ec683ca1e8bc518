/** What announcements are about: a subject's digest tells fronts which cached answers no longer hold. */

import type { EntityRef } from '../../contract/ids.ts';
import { digestText } from '../codec/digest.ts';
import type { EnvironmentScope } from '../environment-scope.ts';
import { viewIdentity } from '../keys.ts';

/** A view, whether it is there or missing. */
export function viewSubject(
  { tenant, environmentId }: EnvironmentScope,
  { sourceId, alias, originId }: EntityRef & { readonly alias: string },
): string {
  return `${tenant}:${environmentId}:v:${viewIdentity(sourceId, alias, originId)}`;
}

/** A claim field (`claimField`), whether anything claims it or not. */
export function claimSubject({ tenant, environmentId }: EnvironmentScope, field: string): string {
  return `${tenant}:${environmentId}:${field}`;
}

/** The items of an index, all of them. @param index from `indexName` */
export function itemsSubject({ tenant, environmentId }: EnvironmentScope, index: string): string {
  return `${tenant}:${environmentId}:i:${index}`;
}

/** The digest as a text that is fit for a Map's key. */
export function subjectKey(subject: string): string {
  return digestText(subject);
}
