import type { Cursor } from '../../contract/config-cursor.ts';
import type { Json } from '../../contract/json.ts';
import { partialDepthMax } from '../../contract/limits.ts';
import { chain, type Resumable } from '../../lib/cooperative-yield.ts';
import { quote } from '../../lib/message-text.ts';
import type { BodyWriter } from '../build/view-body.ts';
import {
  CompiledPartial,
  type Definition,
  type DefinitionContext,
  nullDefinition,
} from '../language/definition.ts';
import { compileRequiredField } from '../language/expression.ts';
import { Frame } from '../language/scope.ts';
import { partialShape } from '../shapes.ts';

/**
 * `{type: "partial", input, alias}`. Writes null and reports a diagnostic if no partial has the alias, or if partials are
 * nested deeper than `partialDepthMax`, which only a cycle can cause.
 */
export function compilePartialUse(at: Cursor, context: DefinitionContext): Definition {
  if (at.object(partialShape) === null) return nullDefinition;
  const { value: inputOf } = compileRequiredField(at.member('input'), context.scope);
  const alias = compileRequiredField(at.member('alias'), context.scope);
  if (alias.constant === null) context.needs.anyPartial = true;
  else context.needs.partials.add(alias.constant);
  const place = context.placeOf(at);
  return {
    mayRefer: true,
    write: (frame, body) => writePartial(frame, alias.text(frame), () => inputOf(frame), place, body),
  };
}

/** Writes what a partial makes of an input. @param place where the partial is used, for diagnostics */
export function writePartial(
  frame: Frame,
  name: string | null,
  inputOf: () => Json,
  place: string,
  body: BodyWriter,
): Resumable<void> {
  const { build } = frame;
  const partial = findPartial(frame, name);
  const isTooDeep = build.partialDepth >= partialDepthMax;
  if (partial === null) {
    const message = name ? `no partial is called ${quote(name)}` : 'the alias of the partial is empty';
    build.report({ kind: 'partialUnknown', place, message });
  } else if (isTooDeep) {
    build.limitReached(
      place,
      `partials are nested more than ${partialDepthMax} levels deep; deeper ones are null`,
    );
  }
  if (partial === null || isTooDeep || body.isFull || !build.spend(1)) {
    return body.value('null');
  }
  build.partialDepth += 1;
  return chain(partial.write(new Frame(build, inputOf()), body), () => {
    build.partialDepth -= 1;
  });
}

function findPartial(frame: Frame, name: string | null): CompiledPartial | null {
  const partial = name === null ? undefined : frame.build.input.partial(name);
  return partial instanceof CompiledPartial ? partial : null;
}
