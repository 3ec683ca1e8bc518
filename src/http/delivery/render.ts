/**
 * Puts views together with the views that they reference (docs/reference/http.md "References in an answer"). It
 * concatenates stored bytes and parses nothing. It is pure: the views have been loaded before. The limits of an answer
 * bound the work, however many ways lead through a graph.
 */
import { ProblemError, problems } from '../../contract/errors.ts';
import { formatViewId } from '../../contract/ids.ts';
import { deliveryBodyBytesMax, deliveryReferencesMax } from '../../contract/limits.ts';
import { ReferenceCounts } from '../../store/derived/reference-counts.ts';
import type { StoredBody, StoredReference } from '../../store/derived/stored-body.ts';

/** The stored body of a reference's target; null when there is none. */
export type ViewOf = (target: NonNullable<StoredReference['target']>) => LoadedView | null;

export interface LoadedView {
  /** One for each view. It shows when a view would be rendered within itself. */
  readonly key: string;
  /** Of its schema. */
  readonly alias: string;
  readonly body: StoredBody;
}

/** A reference in whose place an answer has null: its view is missing, or is deeper than was asked. */
export interface ListedReference {
  readonly path: string;
  readonly viewId: string;
}

/** A view that is being written. Next come `texts[next]` and the reference after it. */
interface Frame {
  readonly view: LoadedView;
  /** Path of the view, or of the reference to it, within its parent. */
  readonly path: string;
  next: number;
}

const nullBytes = Buffer.from('null');

/** Gathers the bytes of one answer and keeps its limits. */
export class Rendering {
  readonly #environmentId: string;
  readonly #viewOf: ViewOf;
  readonly #style: ReferenceStyle;
  readonly #depth: number | null;
  readonly #pieces: Uint8Array[] = [];
  readonly #missing: ListedReference[] = [];
  readonly #cut: ListedReference[] = [];
  /** Views with references that are written to their end, as often as they were. */
  readonly #written: LoadedView[] = [];
  #bytes = 0;
  #references = 0;

  /** @param depth deeper references are cut; those of a requested view have depth 1; null for no limit */
  constructor(environmentId: string, viewOf: ViewOf, style: ReferenceStyle, depth: number | null) {
    this.#environmentId = environmentId;
    this.#viewOf = viewOf;
    this.#style = style;
    this.#depth = depth;
  }

  get missing(): readonly ListedReference[] {
    return this.#missing;
  }

  /** References deeper than the limit; null without a limit. */
  get cut(): readonly ListedReference[] | null {
    return this.#depth === null ? null : this.#cut;
  }

  /** References that were resolved so far. */
  get references(): number {
    return this.#references;
  }

  get pieces(): readonly Uint8Array[] {
    return this.#pieces;
  }

  /** Adds JSON text. @throws ProblemError `answerTooLarge` */
  write(bytes: Uint8Array): void {
    this.#count(bytes.length);
    this.#pieces.push(bytes);
  }

  /**
   * Adds a view and resolves its references, at any depth.
   * @param path place of the view in the answer: `route`. @throws ProblemError `answerTooLarge`, `tooManyReferences`
   */
  view(view: LoadedView, path: string): void {
    if (this.#writeLeaf(view)) return;
    const { after } = this.#style;
    const above = new Set([view.key]);
    const frames: Frame[] = [{ view, path, next: 0 }];
    for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
      const { texts, references } = frame.view.body;
      const text = texts[frame.next];
      if (text !== undefined) this.write(text);
      const reference = references[frame.next];
      frame.next += 1;
      if (reference === undefined) {
        frames.pop();
        above.delete(frame.view.key);
        this.#written.push(frame.view);
        if (frames.length > 0) this.#writeWrapping(after);
        continue;
      }
      const inner = this.#resolve(reference, frames);
      this.#writeWrapping(this.#style.before(reference, this.#environmentId));
      const isNull = inner === null || above.has(inner.key);
      if (isNull) this.write(nullBytes);
      if (isNull || this.#writeLeaf(inner)) {
        this.#writeWrapping(after);
        continue;
      }
      above.add(inner.key);
      frames.push({ view: inner, path: reference.path, next: 0 });
    }
  }

  /** Writes a view without references, as most referenced views are. @returns false when it has some */
  #writeLeaf({ body: { texts, references } }: LoadedView): boolean {
    const [text] = texts;
    if (references.length > 0 || text === undefined) return false;
    this.write(text);
    return true;
  }

  #writeWrapping(text: Uint8Array | null): void {
    if (text !== null) this.write(text);
  }

  #resolve(reference: StoredReference, frames: readonly Frame[]): LoadedView | null {
    if (this.#depth !== null && frames.length > this.#depth) {
      this.#list(this.#cut, reference, frames);
      return null;
    }
    this.#references += 1;
    if (this.#references > deliveryReferencesMax) throw this.#tooManyReferences(frames);
    const { target } = reference;
    const view = target === null ? null : this.#viewOf(target);
    if (view === null) this.#list(this.#missing, reference, frames);
    return view;
  }

  /** Lists a reference by its place: after the views that are in those of the frames. */
  #list(list: ListedReference[], reference: StoredReference, frames: readonly Frame[]): void {
    const places = [...frames.map((frame) => frame.path), reference.path];
    const [root = '', ...inner] = places;
    const listed = {
      path: root + inner.join(this.#style.pathToView),
      viewId: idOf(reference, this.#environmentId),
    };
    this.#count(listed.path.length + listed.viewId.length);
    list.push(listed);
  }

  #tooManyReferences(frames: readonly Frame[]): ProblemError {
    const counts = new ReferenceCounts();
    for (const { alias, body } of this.#written) counts.add(alias, body.references);
    for (const { view, next } of frames) counts.add(view.alias, view.body.references.slice(0, next));
    return tooManyReferences(counts);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > deliveryBodyBytesMax) throw new ProblemError(problems.answerTooLarge);
  }
}

/** The mistake that names the property with most of the references. */
export function tooManyReferences(counts: ReferenceCounts): ProblemError {
  const { property, alias } = counts.most() ?? { property: '', alias: '' };
  return new ProblemError(problems.tooManyReferences(property, alias));
}

/** How an answer shows its references. */
export interface ReferenceStyle {
  /** JSON text in front of the view of a reference, or of the null in its place; null: none. */
  before(reference: StoredReference, environmentId: string): Uint8Array | null;
  /** JSON text after it; null: none. */
  readonly after: Uint8Array | null;
  /** Path from the place of a reference to the view that is there. */
  readonly pathToView: string;
}

/** The view is in the place of its reference: `/v2`, and `_views` of a query. */
export const plainReferences: ReferenceStyle = { before: () => null, after: null, pathToView: '' };

/** The view is within `{id, view, type: "ViewReference"}`: `/v1`. */
export const wrappedReferences: ReferenceStyle = {
  before: (reference, environmentId) =>
    Buffer.from(`{"id":${JSON.stringify(idOf(reference, environmentId))},"view":`),
  after: Buffer.from(',"type":"ViewReference"}'),
  pathToView: '.view',
};

/** Id of the view that a reference names, or what its schema gave in the place of one. */
export function idOf({ target, viewId }: StoredReference, environmentId: string): string {
  return target === null ? (viewId ?? '') : formatViewId({ environmentId, ...target });
}
