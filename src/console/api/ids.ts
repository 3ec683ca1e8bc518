/** Ids of views and entities, and the names of what they are about. */

export interface ViewParts {
  readonly environmentId: string;
  readonly sourceId: string;
  readonly originId: string;
  readonly alias: string;
}

const viewPattern = /^gid:\/\/Environment\/([^/]+)\/Source\/([^/]+)\/Entity\/(.+)\/View\/([A-Za-z0-9_-]+)$/s;
const entityPattern = /^gid:\/\/Source\/([^/]+)\/Entity\/(.+)$/s;

export function viewParts(id: string): ViewParts | null {
  const [, environmentId, sourceId, originId, alias] = viewPattern.exec(id) ?? [];
  if (environmentId === undefined || sourceId === undefined) return null;
  if (originId === undefined || alias === undefined) return null;
  return { environmentId, sourceId, originId, alias };
}

export function entityParts(id: string): { readonly sourceId: string; readonly originId: string } | null {
  const [, sourceId, originId] = entityPattern.exec(id) ?? [];
  return sourceId === undefined || originId === undefined ? null : { sourceId, originId };
}
