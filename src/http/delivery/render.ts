/**
 * Embeds referenced views into the views that reference them (docs/reference/http.md "References in an answer"). It
 * concatenates stored bytes and parses nothing. It is pure: the views are loaded before. The limits of an answer bound the
 * work, however many paths a graph has.
 */
import { ProblemError, problems } from '../../contract/errors.ts';
import { formatViewId } from '../../contract/ids.ts';
import { deliveryBodyBytesMax, deliveryReferencesMax } from '../../contract/limits.ts';
import { ReferenceCounts, type StoredBody, type StoredReference } from '../../store/derived/stored-body.ts';

/** The loaded target of a reference; null if there is none. */
export type ViewOf = (target: NonNullable<StoredReference['target']>) => LoadedView | null;

export interface LoadedView {
  /** Identifies the view, to detect a view that would be rendered within itself. */
  readonly key: string;
  /** Alias of its schema. */
  readonly alias: string;
  readonly body: StoredBody;
}

/** A reference that an answer replaces with null: its view is missing, or deeper than requested. */
export interface ListedReference {
  readonly path: string;
  readonly viewId: string;
}

/** A view that is being written. `texts[next]` and the reference after it come next. */
interface Frame {
  readonly view: LoadedView;
  /** Path of the view, or of the reference to it, within its parent. */
  readonly path: string;
  next: number;
}

const nullBytes = Buffer.from('null');

/** Collects the bytes of one answer and enforces its limits. */
export class Rendering {
  readonly #environmentId: string;
  readonly #viewOf: ViewOf;
  readonly #style: ReferenceStyle;
  readonly #depth: number | null;
  readonly #pieces: Uint8Array[] = [];
  readonly #missing: ListedReference[] = [];
  readonly #cut: ListedReference[] = [];
  /** Views with references that are completely written, once for each time. */
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

  /** Number of references resolved so far. */
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
   * @param path path of the view in the answer: `route`
   * @throws ProblemError `answerTooLarge`, `tooManyReferences`
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

  /** Writes a view without references, as most referenced views are. @returns false if it has references */
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

  /** Lists a reference by its path, which begins with the paths of the views around it. */
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

/** The error names the property with the most references. */
export function tooManyReferences(counts: ReferenceCounts): ProblemError {
  const { property, alias } = counts.most() ?? { property: '', alias: '' };
  return new ProblemError(problems.tooManyReferences(property, alias));
}

/** How an answer shows its references. */
export interface ReferenceStyle {
  /** JSON text before the view, or before the null that replaces it; null for none. */
  before(reference: StoredReference, environmentId: string): Uint8Array | null;
  /** JSON text after it; null for none. */
  readonly after: Uint8Array | null;
  /** Path from a reference to its view. */
  readonly pathToView: string;
}

/** The view replaces its reference: `/v2`, and `_views` of a query. */
export const plainReferences: ReferenceStyle = { before: () => null, after: null, pathToView: '' };

/** The view is within `{id, view, type: "ViewReference"}`: `/v1`. */
export const wrappedReferences: ReferenceStyle = {
  before: (reference, environmentId) =>
    Buffer.from(`{"id":${JSON.stringify(idOf(reference, environmentId))},"view":`),
  after: Buffer.from(',"type":"ViewReference"}'),
  pathToView: '.view',
};

/** Id of the referenced view, or the value that the schema gave instead of an id. */
export function idOf({ target, viewId }: StoredReference, environmentId: string): string {
  return target === null ? (viewId ?? '') : formatViewId({ environmentId, ...target });
}
