/**
 * The ids of the platform (docs/reference/http.md "Ids").
 * An originId is in them as it is, slashes and all; the other parts never hold a slash.
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

// No id of a source or environment has a colon, which would make two views look like one where their parts are joined.
const entityIdPattern = /^gid:\/\/Source\/([^/:]+)\/Entity\/(.+)$/s;
const viewIdPattern =
  /^gid:\/\/Environment\/([^/:]+)\/Source\/([^/:]+)\/Entity\/(.+)\/View\/([A-Za-z0-9_-]+)$/s;

/** `gid://Source/<source_id>/Entity/<origin_id>` */
export function formatEntityId({ sourceId, originId }: EntityRef): string {
  return `gid://Source/${sourceId}/Entity/${originId}`;
}

/** The parts of an entity's id, or null when the text is not one. */
export function parseEntityId(id: string): EntityRef | null {
  const match = entityIdPattern.exec(id);
  if (match?.[1] === undefined || match[2] === undefined) return null;
  return { sourceId: match[1], originId: match[2] };
}

/** `gid://Environment/<environment_id>/Source/<source_id>/Entity/<origin_id>/View/<schema_alias>` */
export function formatViewId({ environmentId, sourceId, originId, alias }: ViewRef): string {
  return `gid://Environment/${environmentId}/Source/${sourceId}/Entity/${originId}/View/${alias}`;
}

/** The parts of a view's id, or null when the text is not one. */
export function parseViewId(id: string): ViewRef | null {
  const match = viewIdPattern.exec(id);
  const [, environmentId, sourceId, originId, alias] = match ?? [];
  if (environmentId === undefined || sourceId === undefined) return null;
  if (originId === undefined || alias === undefined) return null;
  return { environmentId, sourceId, originId, alias };
}

export const aliasPattern = /^[A-Za-z0-9_-]+$/;

/** True for what may be the alias of a thing in the configuration: letters, digits, `-` and `_`. */
export function isAlias(text: string): boolean {
  return text.length <= configNameCharactersMax && aliasPattern.test(text);
}
