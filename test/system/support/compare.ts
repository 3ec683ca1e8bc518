/** Reads every view over HTTP and compares it with the expected one. */
import assert from 'node:assert/strict';
import { formatViewId, type ViewRef } from '../../../src/contract/ids.ts';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import type { Client } from './client.ts';
import { keyPath, type Missing, render, type Tree } from './tenant/render.ts';

/** Views per request, because each may include many others. */
const viewsPerRequest = 40;

export interface ExpectedViews {
  /** Null if the view must not exist. */
  treeOf(target: ViewRef): Tree | null;
}

/** Describes the first few views that differ. */
export async function viewDifferences(
  client: Client,
  key: string,
  targets: readonly ViewRef[],
  expected: ExpectedViews,
  headers: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const differences: string[] = [];
  for (let at = 0; at < targets.length && differences.length < 5; at += viewsPerRequest) {
    const portion = targets.slice(at, at + viewsPerRequest);
    const ids = portion.map(formatViewId);
    const answer = await client.post('/v2', { ids }, { key, headers });
    assert.equal(answer.status, 200, answer.text);
    const views = answer.json.views as JsonObject;
    const missing = answer.json.meta.missingViewReferences as Missing[];
    for (const target of portion) differences.push(...differencesOf(target, views, missing, expected));
  }
  return differences;
}

function differencesOf(
  target: ViewRef,
  views: JsonObject,
  missing: readonly Missing[],
  expected: ExpectedViews,
): string[] {
  const id = formatViewId(target);
  const tree = expected.treeOf(target);
  const found = Object.hasOwn(views, id) ? (views[id] ?? null) : undefined;
  if (tree === null) return found === undefined ? [] : [`${id} is there: ${shown(found)}`];
  const wantedMissing: Missing[] = [];
  const wanted = render(id, tree, keyPath(id), (other) => expected.treeOf(other), wantedMissing);
  if (found === undefined) return [`${id} is not there, should be ${shown(wanted)}`];
  try {
    assert.deepEqual(found, wanted);
    const ofView = missing.filter(({ path }) => path.startsWith(`${keyPath(id)}.`));
    assert.deepEqual(sorted(ofView), sorted(wantedMissing));
    return [];
  } catch (error) {
    return [`${id} differs: ${error instanceof Error ? error.message : error}`];
  }
}

function sorted(missing: readonly Missing[]): string[] {
  return missing.map(({ path, viewId }) => `${path} -> ${viewId}`).sort();
}

function shown(value: Json): string {
  return JSON.stringify(value).slice(0, 500);
}
