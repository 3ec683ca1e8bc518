/** The findings of a comparison of the stored with the expected, and the targets that are compared. */
import { randomUUID } from 'node:crypto';
import { formatEntityId, formatViewId } from '../contract/ids.ts';
import { digestOf } from '../store/codec/digest.ts';
import type { Suspect } from '../store/derived/dependents.ts';

export interface Finding {
  /** The thing that differs: a view id if there is one, otherwise an index item, a URL or an entity id. */
  readonly subject: string;
  readonly message: string;
  /** Equal for the same stored and the same expected state of the same thing. */
  readonly fingerprint: string;
}

/** An entity with all its outputs, and what may be stored under its name besides. */
export interface EntityTarget {
  readonly kind: 'entity';
  readonly tenant: string;
  readonly sourceId: string;
  readonly originId: string;
  readonly suspects: readonly Suspect[];
}

/** A URL's claims with the routes that follow from them. */
export interface RouteTarget {
  readonly kind: 'route';
  readonly tenant: string;
  readonly environmentId: string;
  /** From `claimField`. */
  readonly field: string;
  /** URLs in the list of routes that may have no business there. */
  readonly urls: readonly string[];
  /** Claims are stored apart, as for a contested field, though the record of the field says that it is not. */
  readonly isLeftover: boolean;
}

export type Target = EntityTarget | RouteTarget;

/** Targets of one key are about the same thing, and merge. */
export function targetKey(target: Target): string {
  return target.kind === 'entity'
    ? `${target.tenant}:${target.sourceId}:${target.originId}`
    : `${target.tenant}:${target.environmentId}|${target.field}`;
}

/** One target for two of one key. */
export function mergeTargets(a: Target, b: Target): Target {
  if (a.kind === 'entity' && b.kind === 'entity') return { ...a, suspects: [...a.suspects, ...b.suspects] };
  if (a.kind === 'route' && b.kind === 'route') {
    return { ...a, urls: [...new Set([...a.urls, ...b.urls])], isLeftover: a.isLeftover || b.isLeftover };
  }
  return a;
}

/**
 * @param states stored and expected, whose digests go into the fingerprint. Two states of one digest only let a difference count as
 * lasting that is about to pass: a repair then makes its subject again, which harms nothing.
 */
export function finding(subject: string, message: string, ...states: (string | Buffer | null)[]): Finding {
  const digests = states.map((state) => (state === null ? '-' : digestOf(state).toString('base64url')));
  return { subject, message, fingerprint: [subject, message, ...digests].join('\n') };
}

/** Says only that its subject has to be looked at again: it equals no other, so it never counts as a difference. */
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

/** Where two texts begin to differ, with what is there. */
export function whereTheyDiffer(stored: Buffer, expected: Buffer): string {
  const shorter = Math.min(stored.length, expected.length);
  let at = 0;
  while (at < shorter && stored[at] === expected[at]) at += 1;
  const from = Math.max(0, at - 10);
  const shown = (bytes: Buffer) => JSON.stringify(bytes.subarray(from, at + shownAroundBytes).toString());
  return `from byte ${at} on, stored ${shown(stored)}, expected ${shown(expected)}`;
}
