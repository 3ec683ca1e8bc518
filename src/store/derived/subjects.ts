/**
 * Subjects: what a response was built from, and what a change affects. The digests of a commit's subjects tell fronts which cached
 * responses no longer hold; tags of the same subjects tell it to caches before the fronts (docs/guide/caches.md).
 *
 * An answer has a tag of everything that it was built from. A change has the same tags, narrow and wide. So anyone who purges
 * all tags of a change purges every answer that it could change:
 *
 *     an answer has           in the tags of a change of
 *     viewTag, for each       that view, also when it comes or goes
 *     claimTag, for each      every view that claims the URL or handle, or did
 *     aliasTag, when wide     every view of the schema
 *     environmentTag          every view of the environment
 *
 * An answer is never older than its tags: they name what was looked for, whether or not it was there.
 */
import { type EntityRef, parseViewId } from '../../contract/ids.ts';
import { cacheTagsBytesMax } from '../../contract/limits.ts';
import { digestText, strongDigest } from '../codec/digest.ts';
import type { EnvironmentScope } from '../environment-scope.ts';
import { foldedField, isUrlField, viewIdentity } from '../keys.ts';

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

type View = EntityRef & { readonly alias: string };

/** Everything that a response was built from. */
export interface AnswerParts {
  /** Views in it, and missing ones. */
  readonly views: Iterable<View>;
  /** Ids of views as they were asked for, and of missing references as they are written. */
  readonly viewIds: Iterable<string>;
  /** `claimField` of each URL and handle that was asked for. */
  readonly claimFields: Iterable<string>;
}

/** All tags are as long as this: 72 bits in letters, digits, `-` and `_`. The contract allows 24. */
const tagCharacters = 12;
/** After each tag but the last is a character. */
const tagsMax = Math.floor((cacheTagsBytesMax + 1) / (tagCharacters + 1));

/**
 * Tags of an answer, each once, in at most `cacheTagsBytesMax` bytes. Beyond it one tag for each schema alias stands for
 * its views, and if that is not enough, one tag for all of the environment.
 */
export function answerTags(scope: EnvironmentScope, { views, viewIds, claimFields }: AnswerParts): string[] {
  const found = [...views];
  const others = new Set<string>();
  for (const field of claimFields) others.add(claimTag(scope, field));
  for (const id of viewIds) {
    const view = parseViewId(id);
    if (view?.environmentId === scope.environmentId) found.push(view);
    else others.add(unknownIdTag(scope, id));
  }
  const narrow = new Set([...others, ...found.map((view) => viewTag(scope, view))]);
  if (narrow.size <= tagsMax) return [...narrow];
  const wide = new Set([...others, ...found.map(({ alias }) => aliasTag(scope, alias))]);
  return wide.size <= tagsMax ? [...wide] : [environmentTag(scope)];
}

/**
 * Tags of a change of a view, each once.
 * @param claimFields `claimField` of everything that the view is served under, or was while an answer of then may be kept
 */
export function changeTags(scope: EnvironmentScope, view: View, claimFields: Iterable<string>): string[] {
  const tags = new Set([viewTag(scope, view)]);
  for (const field of claimFields) tags.add(claimTag(scope, field));
  return [...tags, aliasTag(scope, view.alias), environmentTag(scope)];
}

/** Narrow: one view, whether it is there or missing. */
function viewTag(scope: EnvironmentScope, view: View): string {
  return tagOf(viewSubject(scope, view));
}

/**
 * Narrow: one URL on every host, however it is written, or one handle. Its case does not count, for every tenant: so an
 * answer can be purged after `urls.caseInsensitive` has changed. @param field a `claimField`
 */
function claimTag(scope: EnvironmentScope, field: string): string {
  const isUrl = isUrlField(field);
  return tagOf(claimSubject(scope, isUrl ? foldedField(field) : field));
}

/** Wide: all views of a schema. */
export function aliasTag({ tenant, environmentId }: EnvironmentScope, alias: string): string {
  return tagOf(`${tenant}:${environmentId}:a:${alias}`);
}

/** Widest: all views of an environment. */
export function environmentTag({ tenant, environmentId }: EnvironmentScope): string {
  return tagOf(`${tenant}:${environmentId}:e`);
}

/** Of a text that names no view of the environment and never will: no change has this tag. */
function unknownIdTag({ tenant, environmentId }: EnvironmentScope, id: string): string {
  return tagOf(`${tenant}:${environmentId}:x:${id}`);
}

/**
 * Two things of one tag cost a needless purge, never a missed one. No tenant can choose a handle or id that has the tag of
 * another tenant's environment, so that each of its changes would purge all of that.
 */
function tagOf(subject: string): string {
  return strongDigest(subject, tagCharacters);
}
