import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { CommandStop } from '../terminal/command-stop.ts';

export interface GitChanges {
  /** Where the branch began, as it was named: `main`. */
  readonly since: string;
  /** Changed, added and deleted files, relative to `root`. */
  readonly changed: readonly string[];
  /** Every file that is there and not ignored. */
  readonly files: readonly string[];
}

/** What a branch may have begun from, the likeliest first. */
const usualBases = ['@{upstream}', 'main', 'origin/main', 'HEAD'];

/**
 * What differs from the commit where the branch began: in commits, in the index, in the working tree, and new files.
 * @param ref commit or branch to compare with; null: the upstream of the branch, else `main`
 * @throws CommandStop when `root` is no repository, or git does not know `ref`
 */
export function gitChanges(root: string, ref: string | null): GitChanges {
  const git = (...words: string[]) => pathsOf(root, words);
  if (git('rev-parse', '--git-dir') === null) {
    throw new CommandStop('--changed needs a git repository. Name test files or folders instead.');
  }
  const found = (ref === null ? usualBases : [ref]).find((base) => baseCommit(root, base) !== null);
  const commit = found === undefined ? null : baseCommit(root, found);
  if (found === undefined || commit === null) {
    throw new CommandStop(
      `--changed=${ref ?? ''}: git finds no commit that HEAD shares with it. Name a branch or a commit.`,
    );
  }
  const files = git('ls-files', '-z', '--cached', '--others', '--exclude-standard') ?? [];
  const added = git('ls-files', '-z', '--others', '--exclude-standard') ?? [];
  const differing = git('diff', '-z', '--name-only', '--no-renames', '--relative', commit) ?? [];
  const changed = [...new Set([...differing, ...added])].sort();
  return { since: found, changed, files: files.filter((file) => existsSync(path.join(root, file))) };
}

function baseCommit(root: string, ref: string): string | null {
  return pathsOf(root, ['merge-base', '--end-of-options', 'HEAD', ref])?.[0]?.trim() ?? null;
}

/** @returns null when git fails */
function pathsOf(root: string, words: readonly string[]): string[] | null {
  const { status, stdout } = spawnSync('git', words, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return status === 0 ? stdout.split('\0').filter((name) => name !== '') : null;
}
