/** Runs shell blocks of a document in order, like a reader, and compares their output with the answer below. */
import assert from 'node:assert/strict';
import { type CommandResult, root, run } from '../../cli/support/command.ts';
import { until } from '../../support/until.ts';
import { type Block, blocksOf } from './markdown.ts';

/** How long a read is repeated, because documents say that a change is visible "a moment later". */
const momentMs = 30_000;
/** Marks omitted text. */
const leftOut = '…';
/** Number of characters that are shown of an answer that differs. */
const shownCharacters = 1_000;

export interface Step {
  readonly block: Block;
  /** The answer shown below it, or null. */
  readonly answer: string | null;
}

/** The shell blocks that a reader runs, each with the block of JSON or text right below it. */
export function stepsOf(markdown: string): Step[] {
  const blocks = blocksOf(markdown);
  return blocks.flatMap((block, index) => {
    if (block.language !== 'sh' || block.notRun !== null) return [];
    const next = blocks[index + 1];
    const isAnswer =
      (next?.language === 'json' || next?.language === 'text') && next.line === block.lastLine + 2;
    return { block, answer: isAnswer ? next.text : null };
  });
}

/** Whether it runs until it is stopped. */
export function startsThePlatform({ block }: Step): boolean {
  return /\bnpm start\b|\bmillrace dev\b/.test(block.text);
}

export interface Reader {
  /** Port of the platform, which is 4000 in documents. */
  readonly port: string;
  readonly env: Record<string, string>;
  /** Commands of earlier blocks that affect this one. */
  readonly before?: string;
  /** Folder in which the first block starts. Defaults to the repository. */
  readonly cwd?: string;
}

/** Runs a step and fails if it fails, or if the answer differs from the document. */
export async function perform(step: Step, reader: Reader): Promise<void> {
  const where = `line ${step.block.line}`;
  if (step.answer === null) {
    const { stdout } = await runBlock(step, reader);
    assert.doesNotMatch(stdout, /"status":[45]\d\d/, where);
    if (step.block.text.includes('curl')) assert.match(stdout, /"status":(200|0)\b/, where);
    return;
  }
  const pattern = answerPattern(step.answer);
  let last = '';
  await until(
    `${where}: the answer is as shown`,
    async () => {
      last = (await runBlock(step, reader)).stdout;
      return pattern.test(withoutSpace(last));
    },
    momentMs,
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}, but ${last.slice(0, shownCharacters)}`);
  });
}

/** The commands of a block that affect later ones, each of which runs in its own shell: changes of the folder and variables. */
export function leftBehind({ block }: Step): string {
  const lines = block.text.split('\n').filter((line) => /^(?:cd \S+|[A-Z]+=(?:\$\(.*\)|\S+))$/.test(line));
  return lines.map((line) => `${line}\n`).join('');
}

async function runBlock(
  { block }: Step,
  { port, env, before = '', cwd = root }: Reader,
): Promise<CommandResult> {
  const script = before + block.text.replaceAll('127.0.0.1:4000', `127.0.0.1:${port}`);
  const result = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd, env: { ...env, PORT: port } });
  assert.equal(result.code, 0, `line ${block.line}: ${result.stdout}${result.stderr}`);
  return result;
}

/** Matches JSON without white space between its parts; omitted parts match anything. */
export function answerPattern(shown: string): RegExp {
  const parts = withoutSpace(shown).split(new RegExp(`,?${leftOut},?`));
  return new RegExp(
    `^${parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*')}$`,
    's',
  );
}

/** JSON without the white space outside of its strings. */
function withoutSpace(json: string): string {
  return json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
}
