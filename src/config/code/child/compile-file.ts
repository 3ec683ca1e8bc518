/** Compiles one file of a tenant without running it. */
import type { ConfigIssue } from '../../../contract/diagnostic.ts';
import { lineAt, lineStartsOf } from '../../../lib/text-position.ts';
import { sourcePosition } from '../../../schemas/code/program.ts';
import type { CompiledFile, ProgramDraft, ReadModule } from '../compiler-protocol.ts';
import { type Analysis, analyse } from './analysis.ts';
import { type Bundle, bundle } from './bundle.ts';
import { escapeForSandbox } from './sandbox-text.ts';

/**
 * @param file path of the schema, relative to CONFIG_DIR
 * @throws RangeError if it is nested too deeply
 */
export async function compileFile(file: string, read: ReadModule): Promise<CompiledFile> {
  const issues: ConfigIssue[] = [];
  const bundled = await bundle(file, read, issues);
  if (bundled === null) return { draft: null, issues };
  const analysis = analyse(bundled.tree);
  const positionOf = positionsIn(bundled, file);
  for (const { message, advice, at } of analysis.findings) {
    const position = positionOf(at);
    issues.push({ file: position.file, path: position.path, message, advice });
  }
  if (analysis.generatesCode) return { draft: null, issues };
  const draft: ProgramDraft = {
    file,
    files: bundled.files,
    ...escapeForSandbox(bundled),
    partials: analysis.partials,
    lookups: withoutRepetition(analysis.lookups),
    names: namesOf(analysis, positionOf),
  };
  return { draft, issues };
}

type PositionOf = (offset: number) => Pick<ConfigIssue, 'file' | 'path'> & { line: number; column: number };

/** Maps offsets in the bundle to positions in the sources. */
function positionsIn({ code, map }: Bundle, file: string): PositionOf {
  const lineStarts = lineStartsOf(code);
  const mapped = { map };
  return (offset) => {
    const line = lineAt(lineStarts, offset);
    const position = sourcePosition(mapped, line + 1, offset - (lineStarts[line] ?? 0) + 1);
    if (position === null) return { file, path: '$', line: 0, column: 0 };
    return { ...position, path: `${position.line}:${position.column}` };
  };
}

function namesOf({ names }: Analysis, positionOf: PositionOf): ProgramDraft['names'] {
  return names.map(({ kind, name, at }) => {
    const { file, line, column } = positionOf(at);
    return { kind, name, file, line, column };
  });
}

function withoutRepetition(lookups: Analysis['lookups']): Analysis['lookups'] {
  return [...new Map(lookups.map((lookup) => [JSON.stringify(lookup), lookup])).values()];
}
