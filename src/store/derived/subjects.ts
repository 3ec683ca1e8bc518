/**
 * Subjects: what a response was built from, and what a change affects. From the digests of a commit's subjects, fronts know
 * which cached responses are outdated; tags of the same subjects serve caches before the fronts (docs/guide/caches.md).
 *
 * A response has a tag for everything that it was built from. A change has the same tags, narrow and wide. So purging all tags
 * of a change purges every response that it could affect:
 *
 *     an answer has           in the tags of a change of
 *     viewTag, for each       that view, also when it comes or goes
 *     claimTag, for each      every view that claims the URL or handle, or did
 *     aliasTag, when wide     every view of the schema
 *     environmentTag          every view of the environment
 *
 * Tags name what was looked up, whether or not it existed.
 */
import { type EntityRef, parseViewId } from '../../contract/ids.ts';
import { cacheTagsBytesMax } from '../../contract/limits.ts';
import { digestText, strongDigest } from '../codec/digest.ts';
import { foldedField, isUrlField, viewIdentity } from '../keys.ts';
import type { EnvironmentScope } from '../scopes.ts';

type View = EntityRef & { readonly alias: string };

/** A view, existing or missing. */
export function viewSubject({ tenant, environmentId }: EnvironmentScope, view: View): string {
  return `${tenant}:${environmentId}:v:${viewIdentity(view)}`;
}

/** A claim field (`claimField`), claimed or not. */
export function claimSubject({ tenant, environmentId }: EnvironmentScope, field: string): string {
  return `${tenant}:${environmentId}:${field}`;
}

/** All items of an index. @param index from `indexName` */
export function itemsSubject({ tenant, environmentId }: EnvironmentScope, index: string): string {
  return `${tenant}:${environmentId}:i:${index}`;
}

/** The digest as text, for keys of a Map. */
export function subjectKey(subject: string): string {
  return digestText(subject);
}

/** Everything that a response was built from. */
export interface AnswerParts {
  /** Included and missing views. */
  readonly views: Iterable<View>;
  /** View ids as requested, and missing references as written. */
  readonly viewIds: Iterable<string>;
  /** `claimField` of each requested URL and handle. */
  readonly claimFields: Iterable<string>;
}

/** Length of every tag: 72 bits in letters, digits, `-` and `_`. The contract allows 24 characters. */
const tagCharacters = 12;
/** A separator follows each tag except the last. */
const tagsMax = Math.floor((cacheTagsBytesMax + 1) / (tagCharacters + 1));

/**
 * Distinct tags of a response, in at most `cacheTagsBytesMax` bytes. If there are too many, one tag per schema alias replaces
 * those of its views; if that is not enough, one tag represents the whole environment.
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
 * Distinct tags of a change of a view.
 * @param claimFields `claimField` of everything that the view is served under, or was while a cached response may still exist
 */
export function changeTags(scope: EnvironmentScope, view: View, claimFields: Iterable<string>): string[] {
  const tags = new Set([viewTag(scope, view)]);
  for (const field of claimFields) tags.add(claimTag(scope, field));
  return [...tags, aliasTag(scope, view.alias), environmentTag(scope)];
}

/** Narrow: one view, existing or missing. */
function viewTag(scope: EnvironmentScope, view: View): string {
  return tagOf(viewSubject(scope, view));
}

/**
 * Narrow: one URL on all hosts, in any spelling, or one handle. Ignores the case of URLs for every tenant, so that a response
 * can be purged after `urls.caseInsensitive` has changed.
 * @param field a `claimField`
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

/** Tag of a text that can never be a view id of the environment: no change has this tag. */
function unknownIdTag({ tenant, environmentId }: EnvironmentScope, id: string): string {
  return tagOf(`${tenant}:${environmentId}:x:${id}`);
}

/**
 * A collision causes an unnecessary purge, never a missed one. The digest is strong, so that no tenant can choose a handle or
 * id with the tag of another tenant's environment and purge all of it with each change.
 */
function tagOf(subject: string): string {
  return strongDigest(subject, tagCharacters);
}
