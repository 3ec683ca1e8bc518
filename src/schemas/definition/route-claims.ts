import type { Cursor } from '../../contract/config-cursor.ts';
import type { Json } from '../../contract/json.ts';
import { handleCodePointsMax, handlesPerViewMax, urlCodePointsMax } from '../../contract/limits.ts';
import { pageUrlPattern } from '../../contract/shapes-ingest.ts';
import { hasMoreCodePoints } from '../../lib/code-points.ts';
import { chain, forEach, type Resumable, repeat, workBudget } from '../../lib/cooperative-yield.ts';
import { compileField } from '../language/expression.ts';
import type { Evaluate, EvaluateText, Frame, Scope } from '../language/scope.ts';
import type { ViewClaims } from '../schema.ts';
import { routeShape } from '../shapes.ts';

/** `route: {url?, handles?}` (docs/reference/mapping-language.md "Route"): compiles the URL and handles of a view. */
export function compileRoute(at: Cursor, scope: Scope): (frame: Frame) => Resumable<ViewClaims> {
  if (at.isAbsent || at.object(routeShape) === null) return () => ({ url: null, handles: [] });
  const url = at.member('url');
  const urlOf: EvaluateText = url.isAbsent ? () => null : compileField(url, scope).text;
  const handles = compileHandles(at.member('handles'), scope);
  return (frame) =>
    chain(usableHandles(handles, frame), (usable) => ({ url: usableUrl(urlOf(frame)), ...usable.claims }));
}

function compileHandles(at: Cursor, scope: Scope): Evaluate[] {
  const items = at.items('a list of expressions', 'Write ["{p.handle}"].');
  return items.map((item) => compileField(item, scope).value);
}

/** Approximate cost of adding a handle, in units of the work budget. */
const unitsPerHandle = 50;

const routable = new RegExp(pageUrlPattern);

/** Returns the URL if it can be requested, otherwise null. */
export function usableUrl(url: string | null): string | null {
  return url !== null && !hasMoreCodePoints(url, urlCodePointsMax) && routable.test(url) ? url : null;
}

/** Collects the handles of a view, without duplicates, up to the limits of number and length. */
export class UsableHandles {
  readonly #texts = new Set<string>();
  #areCut = false;

  get claims(): Pick<ViewClaims, 'handles' | 'areCut'> {
    return { handles: [...this.#texts], ...(this.#areCut ? { areCut: true } : {}) };
  }

  add(text: string): void {
    if (this.#texts.has(text)) return;
    const isRejected = this.#texts.size >= handlesPerViewMax || hasMoreCodePoints(text, handleCodePointsMax);
    if (isRejected) this.#areCut = true;
    else this.#texts.add(text);
  }
}

/** An expression that returns an array claims each of its items. */
function usableHandles(handles: readonly Evaluate[], frame: Frame): Resumable<UsableHandles> {
  const usable = new UsableHandles();
  const addItem = (item: Json): void => {
    const text = frame.build.text(item);
    workBudget.units += unitsPerHandle;
    if (text !== null && text !== '') usable.add(text);
  };
  const addAll = (at: number): Resumable<boolean> => {
    const handle = handles[at];
    if (handle === undefined) return false;
    const value = handle(frame);
    if (Array.isArray(value)) return chain(forEach(value, addItem), () => true);
    addItem(value);
    return true;
  };
  return chain(repeat(addAll), () => usable);
}
