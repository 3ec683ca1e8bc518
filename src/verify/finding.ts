/** The findings of comparing stored with expected data, and the targets of a comparison. */
import { randomUUID } from 'node:crypto';
import { formatEntityId, formatViewId } from '../contract/ids.ts';
import { digestOf } from '../store/codec/digest.ts';
import type { Suspect } from '../store/derived/dependents.ts';
import { nameOfWork } from '../store/partitions/intake.ts';
import type { EntityName, EnvironmentScope } from '../store/scopes.ts';

export interface Finding {
  /** The thing that differs: a view id if there is one, otherwise an index item, a URL or an entity id. */
  readonly subject: string;
  readonly message: string;
  /** Equal for the same stored and expected state of the same subject. */
  readonly fingerprint: string;
}

/** An entity with all its outputs, and further data that may be stored for it. */
export interface EntityTarget extends EntityName {
  readonly kind: 'entity';
  readonly suspects: readonly Suspect[];
}

/** A URL's claims with the routes that follow from them. */
export interface RouteTarget extends EnvironmentScope {
  readonly kind: 'route';
  /** From `claimField`. */
  readonly field: string;
  /** URLs in the list of routes that may be wrong. */
  readonly urls: readonly string[];
  /** True if claims are stored separately, as for a contested field, although the field's record is not contested. */
  readonly isLeftover: boolean;
}

export type Target = EntityTarget | RouteTarget;

/** Targets with the same key can be merged. */
export function targetKey(target: Target): string {
  return target.kind === 'entity'
    ? nameOfWork(target)
    : `${target.tenant}:${target.environmentId}|${target.field}`;
}

/** Merges two targets with the same key. */
export function mergeTargets(a: Target, b: Target): Target {
  if (a.kind === 'entity' && b.kind === 'entity') return { ...a, suspects: [...a.suspects, ...b.suspects] };
  if (a.kind === 'route' && b.kind === 'route') {
    return { ...a, urls: [...new Set([...a.urls, ...b.urls])], isLeftover: a.isLeftover || b.isLeftover };
  }
  return a;
}

/**
 * @param states the stored and expected state, whose digests are part of the fingerprint. After a collision, a temporary
 * difference would count as lasting; its repair only rebuilds the subject, which is harmless.
 */
export function finding(subject: string, message: string, ...states: (string | Buffer | null)[]): Finding {
  const digests = states.map((state) => (state === null ? '-' : digestOf(state).toString('base64url')));
  return { subject, message, fingerprint: [subject, message, ...digests].join('\n') };
}

/** A finding that its subject must be checked again. It never equals another, so it never counts as a difference. */
export function changingFinding(subject: string): Finding {
  return finding(subject, 'changed while it was compared', randomUUID());
}

/** A view id, or an index item in words. */
export function outputSubject(
  { sourceId, originId }: { readonly sourceId: string; readonly originId: string },
  { kind, environmentId, name }: { readonly kind: 'view' | 'item'; environmentId: string; name: string },
): string {
  if (kind === 'view') return formatViewId({ environmentId, sourceId, originId, alias: name });
  const [indexKind, ...index] = name.split(':');
  const shown = indexKind === 'schema' ? index.join(':') : index.join(' type ');
  return `${formatEntityId({ sourceId, originId })} in index ${shown} of environment ${environmentId}`;
}

const shownAroundBytes = 30;

/** Describes where two texts begin to differ. */
export function whereTheyDiffer(stored: Buffer, expected: Buffer): string {
  const shorter = Math.min(stored.length, expected.length);
  let at = 0;
  while (at < shorter && stored[at] === expected[at]) at += 1;
  const from = Math.max(0, at - 10);
  const shown = (bytes: Buffer) => JSON.stringify(bytes.subarray(from, at + shownAroundBytes).toString());
  return `from byte ${at} on, stored ${shown(stored)}, expected ${shown(expected)}`;
}
