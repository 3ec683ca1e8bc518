import { type Steps, Suspended } from '../../lib/cooperative-yield.ts';
import { encodeItem, type StoredItem } from '../../store/derived/item-record.ts';
import { encodeBody } from '../../store/derived/stored-body.ts';
import type { AutoTypes } from './auto-types.ts';
import { itemNameList } from './builder.ts';
import type { CodeSandbox } from './code-replies.ts';
import { itemOf, type Misfit, noMisfits } from './item.ts';
import type { LookupAnswers } from './lookup-source.ts';
import { buildOutputs, type Output, outputsOf } from './output.ts';
import type { Turn } from './turn.ts';

/** The outputs of turns, in the order of their turns. */
export interface BuiltTurns {
  readonly outputs: readonly Output[];
  /** Items of entity types that their source has no room for. They are not built. */
  readonly withoutRoom: readonly Output[];
  readonly autoTypes: AutoTypes;
}

/**
 * Builds the outputs of turns.
 * @param typesOf decides or reads the types of auto-indexed fields
 * @param lookupsMs time limit for lookups, after which outputs are deferred
 * @throws FencedError, StoreUnavailableError
 */
export async function buildTurns(
  turns: readonly Turn[],
  lookups: LookupAnswers,
  sandbox: CodeSandbox,
  typesOf: (asked: readonly Output[]) => Promise<AutoTypes>,
  lookupsMs = Number.POSITIVE_INFINITY,
): Promise<BuiltTurns> {
  const asked = turns.flatMap(outputsOf);
  const autoTypes = await typesOf(asked);
  const outputs = asked.filter((output) => autoTypes.admits(output));
  await buildOutputs(outputs, lookups, sandbox, lookupsMs);
  return { outputs, withoutRoom: asked.filter((output) => !autoTypes.admits(output)), autoTypes };
}

/** An output as stored in Redis: batches write it, and verification compares with it. */
export interface StoredOutput {
  readonly bytes: Buffer;
  /** Null for a view. */
  readonly item: StoredItem | null;
  readonly misfits: readonly Misfit[];
}

/** Encodes an output. @param output built and not deferred */
export function* storedOutput(output: Output, autoTypes: AutoTypes): Steps<StoredOutput> {
  const { result, builder, turn } = output;
  if (result.kind === 'view') {
    const encoded = encodeBody(result.view.body, turn.sourceId);
    const bytes = encoded instanceof Suspended ? yield* encoded.steps : encoded;
    return { bytes, item: null, misfits: noMisfits };
  }
  const { item, misfits } = yield* itemOf(output, autoTypes.of(output));
  return { bytes: encodeItem(item, itemNameList(builder)), item, misfits };
}
