import type { Steps } from '../../lib/cooperative-yield.ts';
import { Bitmap } from '../bitmap.ts';
import { type DocTest, matchNothing } from '../filter/condition.ts';
import type { PartReader, Parts } from '../snapshot/parts.ts';
import type { Column } from './column.ts';

/** A field of type object, which is stored and cannot be searched. The column knows only which docs have it. */
export class ObjectColumn implements Column {
  readonly present: Bitmap;

  constructor(capacity: number) {
    this.present = new Bitmap(capacity);
  }

  get bytes(): number {
    return this.present.words.byteLength;
  }

  set(doc: number): null {
    this.present.add(doc);
    return null;
  }

  clear(doc: number): null {
    this.present.remove(doc);
    return null;
  }

  parts(): Parts {
    return this.present.parts();
  }

  async restore(from: PartReader): Promise<void> {
    await this.present.restore(from);
  }

  // biome-ignore lint/correctness/useYield: columns grow in steps; this one needs none.
  *grow(capacity: number): Steps<void> {
    this.present.grow(capacity);
  }

  // biome-ignore lint/correctness/useYield: columns are matched in steps; this one needs none.
  *match(): Steps<DocTest> {
    return matchNothing;
  }

  order(): null {
    return null;
  }
}
