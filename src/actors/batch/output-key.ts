/** Names of outputs and claims, unique within their entity. */
import type { MadeClaim } from '../../store/derived/processed-record.ts';

/** Tells the outputs of an entity apart. */
export function outputKey({
  kind,
  environmentId,
  name,
}: {
  kind: string;
  environmentId: string;
  name: string;
}): string {
  return `${kind}:${environmentId}:${name}`;
}

/** Tells the claims of one view apart. */
export function claimKey({ kind, host, field }: Pick<MadeClaim, 'kind' | 'host' | 'field'>): string {
  return `${kind}:${host ?? ''}:${field}`;
}
