/** A naive implementation of delivery: a view is a tree, and each reference in it is replaced by its view. */
import { formatViewId, type ViewRef } from '../../../../src/contract/ids.ts';
import { type Json, type JsonObject, setOwn } from '../../../../src/contract/json.ts';

/** A position in a tree at which another view is inserted. */
export class Reference {
  constructor(readonly target: ViewRef) {}
}

export type Tree = null | boolean | number | string | Reference | Tree[] | { [name: string]: Tree };

export interface Missing {
  readonly path: string;
  readonly viewId: string;
}

/** A view as it is delivered. Its missing references are added to `missing`. */
export function render(
  id: string,
  tree: Tree,
  path: string,
  treeOf: (target: ViewRef) => Tree | null,
  missing: Missing[],
): Json {
  /** Ids of the views around the current position. */
  const ancestors = new Set([id]);
  return renderTree(tree, path);

  function renderTree(node: Tree, at: string): Json {
    if (node instanceof Reference) return renderReference(node, at);
    if (Array.isArray(node)) return node.map((item, index) => renderTree(item, `${at}[${index}]`));
    if (typeof node !== 'object' || node === null) return node;
    const object: JsonObject = {};
    for (const [name, member] of Object.entries(node)) {
      setOwn(object, name, renderTree(member, memberPath(at, name)));
    }
    return object;
  }

  function renderReference({ target }: Reference, at: string): Json {
    const viewId = formatViewId(target);
    if (ancestors.has(viewId)) return null;
    const referenced = treeOf(target);
    if (referenced === null) {
      missing.push({ path: at, viewId });
      return null;
    }
    ancestors.add(viewId);
    const rendered = renderTree(referenced, at);
    ancestors.delete(viewId);
    return rendered;
  }
}

function memberPath(at: string, name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `${at}.${name}` : `${at}['${quoted(name)}']`;
}

function quoted(text: string): string {
  return text.replace(/[\\']/g, '\\$&');
}

/** The position of the view with a key of `views`. */
export function keyPath(key: string): string {
  return `views['${quoted(key)}']`;
}
