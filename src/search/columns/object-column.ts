import { Bitmap } from '../bitmap.ts';
import { type DocTest, matchNothing } from '../filter/matcher.ts';
import type { Column } from './column.ts';

/** Fields of type object: stored, not searchable. Only whether a doc has one is known here. */
export class ObjectColumn implements Column {
  readonly present: Bitmap;

  constructor(capacity: number) {
    this.present = new Bitmap(capacity);
  }

  get bytes(): number {
    return this.present.words.byteLength;
  }

  set(doc: number): void {
    this.present.add(doc);
  }

  clear(doc: number): void {
    this.present.remove(doc);
  }

  grow(capacity: number): void {
    this.present.grow(capacity);
  }

  match(): DocTest {
    return matchNothing;
  }

  order(): null {
    return null;
  }
}
