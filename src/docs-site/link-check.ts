/** Turns links between files of the repository into links between pages, and finds those that lead nowhere. */
import path from 'node:path';
import type { Document, DocumentLink } from './document.ts';

export class LinkCheck {
  /** `file:line: target: what is wrong` */
  readonly mistakes: string[] = [];
  /** Files that are not pages and that pages link to, relative to the repository. */
  readonly files = new Set<string>();
  checked = 0;

  /** @param isFile whether the repository has a file */
  constructor(
    private readonly documents: ReadonlyMap<string, Document>,
    private readonly isFile: (file: string) => boolean,
  ) {}

  /** Links to other sites stay as they are and are not checked. */
  addressOf(from: Document, { target, line }: DocumentLink): string {
    if (/^[a-z]+:/.test(target)) return target;
    this.checked += 1;
    const [name = '', anchor] = target.split('#');
    const file = name === '' ? from.file : path.posix.join(path.posix.dirname(from.file), name);
    const page = this.documents.get(file);
    const mistake = this.#mistake(file, page, anchor);
    if (mistake !== null) this.mistakes.push(`${from.file}:${line}: ${target}: ${mistake}`);
    if (page === undefined) this.files.add(file);
    const address = relative(from.address, page?.address ?? file);
    const place = name === '' ? '' : address;
    return anchor === undefined ? place : `${place}#${anchor}`;
  }

  #mistake(file: string, page: Document | undefined, anchor: string | undefined): string | null {
    if (file.startsWith('..')) return 'the link leads out of the repository';
    if (page === undefined && !this.isFile(file)) return 'no such file';
    if (anchor === undefined) return null;
    if (page === undefined) return 'only a page has headings';
    return page.hasAnchor(anchor) ? null : 'no such heading';
  }
}

/** The address of a page from another one. */
export function relative(from: string, to: string): string {
  return path.posix.relative(path.posix.dirname(from), to);
}
