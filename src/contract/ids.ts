/**
 * The ids of the platform (docs/reference/http.md "Ids").
 * They contain originIds unchanged, including slashes; the other parts never contain a slash.
 */
import { configNameCharactersMax } from './limits.ts';

export interface EntityRef {
  readonly sourceId: string;
  readonly originId: string;
}

export interface ViewRef extends EntityRef {
  readonly environmentId: string;
  readonly alias: string;
}

// Ids of sources and environments have no colon, because joined parts of two views could otherwise be equal.
const entityIdPattern = /^gid:\/\/Source\/([^/:]+)\/Entity\/(.+)$/s;
const viewIdPattern =
  /^gid:\/\/Environment\/([^/:]+)\/Source\/([^/:]+)\/Entity\/(.+)\/View\/([A-Za-z0-9_-]+)$/s;

/** `gid://Source/<source_id>/Entity/<origin_id>` */
export function formatEntityId({ sourceId, originId }: EntityRef): string {
  return `gid://Source/${sourceId}/Entity/${originId}`;
}

/** The parts of an entity's id; null for any other text. */
export function parseEntityId(id: string): EntityRef | null {
  const match = entityIdPattern.exec(id);
  if (match?.[1] === undefined || match[2] === undefined) return null;
  return { sourceId: match[1], originId: match[2] };
}

/** `gid://Environment/<environment_id>/Source/<source_id>/Entity/<origin_id>/View/<schema_alias>` */
export function formatViewId({ environmentId, sourceId, originId, alias }: ViewRef): string {
  return `gid://Environment/${environmentId}/Source/${sourceId}/Entity/${originId}/View/${alias}`;
}

/** The parts of a view's id; null for any other text. */
export function parseViewId(id: string): ViewRef | null {
  const match = viewIdPattern.exec(id);
  const [, environmentId, sourceId, originId, alias] = match ?? [];
  if (environmentId === undefined || sourceId === undefined) return null;
  if (originId === undefined || alias === undefined) return null;
  return { environmentId, sourceId, originId, alias };
}

export const aliasPattern = /^[A-Za-z0-9_-]+$/;

/** True for a valid alias in the configuration: letters, digits, `-` and `_`. */
export function isAlias(text: string): boolean {
  return text.length <= configNameCharactersMax && aliasPattern.test(text);
}
