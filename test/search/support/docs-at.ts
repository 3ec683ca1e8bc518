import { type DocRun, docOf, type Postings } from '../../../src/search/text/postings.ts';

/** The docs of a term, in the order in which they were added. */
export function docsAt(postings: Postings, termId: number): number[] {
  const run: DocRun = { docs: new Int32Array(0), from: 0, end: 0 };
  postings.show(termId, run);
  return Array.from(run.docs.subarray(run.from, run.end), docOf);
}
