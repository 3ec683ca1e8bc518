/**
 * Puts views together with the views that they reference (docs/reference/http.md "References in an answer"). It
 * concatenates stored bytes and parses nothing. It is pure: the views have been loaded before. The limits of an answer
 * bound the work, however many ways lead through a graph.
 */
import { ProblemError, problems } from '../../contract/errors.ts';
import { deliveryBodyBytesMax, deliveryReferencesMax } from '../../contract/limits.ts';
import type { StoredBody, StoredReference } from '../../store/derived/stored-body.ts';
import { idOf, type ReferenceStyle } from './reference-style.ts';

/** The stored body of a reference's target; null when there is none. */
export type ViewOf = (target: NonNullable<StoredReference['target']>) => LoadedView | null;

export interface LoadedView {
  /** One for each view. It shows when a view would be rendered within itself. */
  readonly key: string;
  readonly body: StoredBody;
}

export interface MissingReference {
  readonly path: string;
  readonly viewId: string;
}

/** A view that is being written. Next come `texts[next]` and the reference behind it. */
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
  readonly #pieces: Uint8Array[] = [];
  readonly #missing: MissingReference[] = [];
  #bytes = 0;
  #references = 0;

  constructor(environmentId: string, viewOf: ViewOf, style: ReferenceStyle) {
    this.#environmentId = environmentId;
    this.#viewOf = viewOf;
    this.#style = style;
  }

  get missing(): readonly MissingReference[] {
    return this.#missing;
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
    this.#references += 1;
    if (this.#references > deliveryReferencesMax) throw new ProblemError(problems.tooManyReferences);
    const { target } = reference;
    const view = target === null ? null : this.#viewOf(target);
    if (view === null) this.#addMissing(reference, frames);
    return view;
  }

  /** Lists a missing view by the place of its reference: behind the views that stand in those of the frames. */
  #addMissing(reference: StoredReference, frames: readonly Frame[]): void {
    const places = [...frames.map((frame) => frame.path), reference.path];
    const [root = '', ...inner] = places;
    const missing = {
      path: root + inner.join(this.#style.pathToView),
      viewId: idOf(reference, this.#environmentId),
    };
    this.#count(missing.path.length + missing.viewId.length);
    this.#missing.push(missing);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > deliveryBodyBytesMax) throw new ProblemError(problems.answerTooLarge);
  }
}
