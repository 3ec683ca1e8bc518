import { type DocRun, docOf, type Postings } from '../../../src/search/text/postings.ts';

/** The docs of a place, in the order in which they came. */
export function docsAt(postings: Postings, place: number): number[] {
  const run: DocRun = { docs: new Int32Array(0), from: 0, end: 0 };
  postings.show(place, run);
  return Array.from(run.docs.subarray(run.from, run.end), docOf);
}
