import type { Keepable } from './answer-cache.ts';

/** What stands behind the fields of a row: JSON text from `,"_views":` to the end of the row. */
export class RowViews implements Keepable {
  /**
   * @param references that were resolved for it
   * @param subjects keys of the views that were read, found or missing
   */
  constructor(
    readonly text: Buffer,
    readonly references: number,
    readonly subjects: readonly string[],
  ) {}

  get bytes(): number {
    return this.text.length;
  }
}
