/**
 * Counts the references that delivery would resolve for one view, as `http/delivery/render.ts` does: once for each chain that
 * leads to it, except within the same view.
 */
import { deliveryReferencesMax } from '../../contract/limits.ts';
import {
  ReferenceCounts,
  type ReferenceProperty,
  type StoredReference,
  type ViewTarget,
} from '../../store/derived/stored-body.ts';
import { readView } from '../../store/derived/views.ts';
import type { EnvironmentScope } from '../../store/scopes.ts';
import type { Store } from '../../store/store.ts';

/** Maximum number of views cached between counts. */
const cachedMax = 2 * deliveryReferencesMax;
const batchMax = 256;

/** A view and its references. */
export interface CountedView {
  readonly target: ViewTarget;
  readonly references: readonly Pick<StoredReference, 'target' | 'path'>[];
}

export class AnswerReferences {
  readonly #known = new Map<string, CountedView>();

  constructor(
    private readonly store: Store,
    private readonly scope: EnvironmentScope,
  ) {}

  /**
   * If the response would exceed the maximum number of references, the property with most of them; null if the view can be
   * delivered.
   * @throws StoreUnavailableError
   */
  async excess(root: CountedView): Promise<ReferenceProperty | null> {
    if (root.references.length === 0) return null;
    if (this.#known.size > cachedMax) this.#known.clear();
    const reached = await this.#reached(root);
    let total = 0;
    for (const { references } of reached.values()) total += references.length;
    if (total > deliveryReferencesMax) return mostOf(reached.values());
    return excessOfChains(root, reached);
  }

  /** The view and all views that it leads to; incomplete if these already have too many references. */
  async #reached(root: CountedView): Promise<ReadonlyMap<string, CountedView>> {
    const reached = new Map([[root.target.identity, root]]);
    let waiting = this.#targetsOf([root], reached);
    let total = root.references.length;
    while (waiting.length > 0 && total <= deliveryReferencesMax) {
      const views = await Promise.all(waiting.slice(0, batchMax).map((target) => this.#read(target)));
      for (const view of views) {
        reached.set(view.target.identity, view);
        total += view.references.length;
      }
      waiting = [...waiting.slice(batchMax), ...this.#targetsOf(views, reached)];
      waiting = [...new Map(waiting.map((target) => [target.identity, target])).values()];
    }
    return reached;
  }

  #targetsOf(views: readonly CountedView[], reached: ReadonlyMap<string, CountedView>): ViewTarget[] {
    const targets = views.flatMap(({ references }) => references.map(({ target }) => target));
    return targets.filter((target) => target !== null).filter(({ identity }) => !reached.has(identity));
  }

  /** A missing view has no references. */
  async #read(target: ViewTarget): Promise<CountedView> {
    const known = this.#known.get(target.identity);
    if (known !== undefined) return known;
    const body = await readView(this.store, this.scope, target);
    const view: CountedView = { target, references: body?.references ?? [] };
    this.#known.set(target.identity, view);
    return view;
  }
}

function mostOf(views: Iterable<CountedView>): ReferenceProperty | null {
  const counts = new ReferenceCounts();
  for (const view of views) counts.add(view.target.alias, view.references);
  return counts.most();
}

/** Follows all chains, up to the maximum number of references in a response. */
function excessOfChains(
  root: CountedView,
  views: ReadonlyMap<string, CountedView>,
): ReferenceProperty | null {
  const above = new Set([root.target.identity]);
  const frames = [{ view: root, next: 0 }];
  const written: CountedView[] = [];
  let references = 0;
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const reference = frame.view.references[frame.next];
    frame.next += 1;
    if (reference === undefined) {
      frames.pop();
      above.delete(frame.view.target.identity);
      written.push(frame.view);
      continue;
    }
    references += 1;
    if (references > deliveryReferencesMax) {
      const open = frames.map(({ view, next }) => ({ ...view, references: view.references.slice(0, next) }));
      return mostOf([...written, ...open]);
    }
    const inner = reference.target === null ? undefined : views.get(reference.target.identity);
    if (inner === undefined || inner.references.length === 0 || above.has(inner.target.identity)) continue;
    above.add(inner.target.identity);
    frames.push({ view: inner, next: 0 });
  }
  return null;
}
