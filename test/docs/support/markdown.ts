/** Parses the parts of Markdown that the tests of documents need: fenced blocks, headings, links. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../', import.meta.url));

export interface Block {
  readonly language: string;
  readonly text: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  /** Line of the closing fence. */
  readonly lastLine: number;
  /** The reason in the comment `<!-- not run: … -->` above it, or null. */
  readonly notRun: string | null;
}

export interface Link {
  readonly target: string;
  /** Line number, from 1. */
  readonly line: number;
}

/** Every Markdown file of the repository, as a path relative to it with slashes. */
export function documents(): string[] {
  const inDocs = readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file.split(path.sep).join('/')}`);
  return ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'bench/README.md', ...inDocs.sort()];
}

/** @param file relative to the repository */
export function textOf(file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}

export function blocksOf(markdown: string): Block[] {
  const lines = markdown.split('\n');
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const language = fenceLanguage(lines[at]);
    if (language === null) continue;
    const end = lines.findIndex((line, place) => place > at && line.trim() === '```');
    if (end < 0) throw new Error(`line ${at + 1}: the block has no end`);
    blocks.push({
      language,
      text: lines.slice(at + 1, end).join('\n'),
      line: at + 1,
      lastLine: end + 1,
      notRun: notRunReason(lines.slice(0, at)),
    });
    at = end;
  }
  return blocks;
}

/** The language of the block that a line opens, or null. */
function fenceLanguage(line: string | undefined): string | null {
  return /^\s*```(\w*)\s*$/.exec(line ?? '')?.[1] ?? null;
}

/** The reason in a comment that is the last line with text. */
function notRunReason(linesAbove: readonly string[]): string | null {
  const last = linesAbove.findLast((line) => line.trim() !== '') ?? '';
  return /^<!-- not run: (.+) -->$/.exec(last.trim())?.[1] ?? null;
}

/** The lines of a document, with empty lines in place of fenced blocks. */
function proseLines(markdown: string): string[] {
  let isInBlock = false;
  return markdown.split('\n').map((line) => {
    const isFence = /^\s*```/.test(line);
    if (isFence) isInBlock = !isInBlock;
    return isFence || isInBlock ? '' : line;
  });
}

/** Relative links, including images, without links to other sites. */
export function relativeLinksOf(markdown: string): Link[] {
  return proseLines(markdown).flatMap((line, index) =>
    [...line.replaceAll(/`[^`]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => ({ target, line: index + 1 }))
      .filter(({ target }) => !/^[a-z]+:/.test(target)),
  );
}

/** The text of all headings, without their marks. */
export function headingsOf(markdown: string): string[] {
  return proseLines(markdown).flatMap((line) => /^#{1,6} (.+?)\s*$/.exec(line)?.[1] ?? []);
}

/** The anchors of all headings, as GitHub generates them. */
export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  for (const heading of headingsOf(markdown)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(/\s/g, '-');
    let unique = anchor;
    for (let number = 1; anchors.has(unique); number += 1) unique = `${anchor}-${number}`;
    anchors.add(unique);
  }
  return anchors;
}

/**
 * The rows of all tables whose first column has this heading, each as the text of its cells.
 * @param firstHead as written in the head of the table
 */
export function rowsOf(markdown: string, firstHead: string): string[][] {
  const lines = markdown.split('\n');
  const heads = lines.flatMap((line, at) => (line.startsWith(`| ${firstHead} |`) ? [at] : []));
  return heads.flatMap((head) => {
    const end = lines.findIndex((line, at) => at > head && !line.startsWith('|'));
    return lines.slice(head + 2, end < 0 ? undefined : end).map(cellsOf);
  });
}

/** A cell may be empty; a vertical bar inside one is written `\|`. */
function cellsOf(row: string): string[] {
  return row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}
