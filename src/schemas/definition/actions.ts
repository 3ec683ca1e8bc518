import type { Cursor } from '../../contract/config-cursor.ts';
import type { EntityRef } from '../../contract/ids.ts';
import type { Json } from '../../contract/json.ts';
import { actionsPerBuildMax } from '../../contract/limits.ts';
import type { Build } from '../build/build.ts';
import { compileField } from '../language/expression.ts';
import type { Evaluate, EvaluateText, Frame, Scope } from '../language/scope.ts';
import type { ResolvedAction } from '../schema.ts';
import { actionShape } from '../shapes.ts';

type Resolve = (frame: Frame) => ResolvedAction[];

/**
 * `actions: [{type: "process", alias?, originId?, source?}]` (docs/reference/mapping-language.md "Actions"): views to
 * process again.
 */
export function compileActions(at: Cursor, scope: Scope): Resolve {
  if (at.isAbsent) return () => [];
  const items = at.items('a list of actions', 'Write [{"type": "process", …}].');
  const actions = items.map((item) => compileAction(item, scope));
  return (frame) => actions.flatMap((resolve) => resolve(frame)).slice(0, actionsPerBuildMax);
}

function compileAction(at: Cursor, scope: Scope): Resolve {
  if (at.object(actionShape) === null) return () => [];
  if (at.member('type').json !== 'process') at.member('type').expected('`process`', 'It is the only action.');
  const alias = optionalString(at.member('alias'), scope);
  const source = optionalString(at.member('source'), scope);
  const originId = at.member('originId');
  const originIds: Evaluate = originId.isAbsent ? ownOriginId : compileField(originId, scope).value;
  return (frame) => {
    const sourceId = sourceOf(frame.build, source, frame);
    const entities = entitiesOf(originIds(frame), sourceId, frame.build);
    return entities.map((entity) => ({ ...entity, alias: alias?.(frame) || null }));
  };
}

const ownOriginId: Evaluate = ({ build }) => build.input.entity.originId;

function optionalString(at: Cursor, scope: Scope): EvaluateText | null {
  return at.isAbsent ? null : compileField(at, scope).text;
}

/** The source of the entities; null if the named group has none in this environment. */
function sourceOf({ input }: Build, source: EvaluateText | null, frame: Frame): string | null {
  if (source === null) return input.entity.sourceId;
  return input.resolveSource(source(frame) ?? '');
}

/** An array means several entities; null and empty values are skipped. */
function entitiesOf(value: Json, sourceId: string | null, build: Build): EntityRef[] {
  if (sourceId === null) return [];
  const entities: EntityRef[] = [];
  for (const item of Array.isArray(value) ? value : [value]) {
    const originId = build.text(item);
    if (originId) entities.push({ sourceId, originId });
    if (entities.length === actionsPerBuildMax) break;
  }
  return entities;
}
