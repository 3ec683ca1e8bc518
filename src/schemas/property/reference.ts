import type { Cursor } from '../../contract/config-cursor.ts';
import { formatViewId, isAlias, parseEntityId, type ViewRef } from '../../contract/ids.ts';
import type { BuildInput } from '../build/build-input.ts';
import type { ReferencePiece } from '../build/build-outcome.ts';
import {
  type Definition,
  type DefinitionContext,
  type Needs,
  nullDefinition,
} from '../language/definition.ts';
import { compileField, compileRequiredField } from '../language/expression.ts';
import type { EvaluateText, Frame, Scope } from '../language/scope.ts';
import { referenceShape } from '../shapes.ts';

type ResolvedReference = Pick<ReferencePiece, 'target' | 'viewId'>;

type Resolve = (frame: Frame, alias: string) => ResolvedReference | null;

const idKeys = ['id', 'gid', 'originId'] as const;

/**
 * `{type: "reference", alias | view, id | gid | originId, source?}`; an empty or null id gives null
 * (docs/reference/mapping-language.md "reference").
 */
export function compileReference(at: Cursor, { scope, needs }: DefinitionContext): Definition {
  if (at.object(referenceShape) === null) return nullDefinition;
  needs.references.push(at);
  const { text: aliasOf } = compileRequiredField(at.member(aliasKey(at)), scope);
  const resolve = compileTarget(at, scope, needs);
  return {
    mayRefer: true,
    write: (frame, body) => {
      const alias = aliasOf(frame);
      const resolved = alias ? resolve(frame, alias) : null;
      if (resolved === null) body.value('null');
      else body.reference(resolved);
    },
  };
}

/** `view` is a synonym of `alias`. */
function aliasKey(at: Cursor): 'alias' | 'view' {
  const view = at.member('view');
  if (view.isAbsent) return 'alias';
  if (!at.member('alias').isAbsent) {
    view.issue('`alias` already says which view is meant', 'Keep one of `alias`, `view`.');
  }
  return 'view';
}

function compileTarget(at: Cursor, scope: Scope, needs: Needs): Resolve {
  const given = idKeys.filter((key) => !at.member(key).isAbsent);
  const [key, ...others] = given;
  if (key === undefined) at.issue('a reference needs `id` or `originId`', 'Add one: "id": "{item.id}".');
  for (const other of others) {
    at.member(other).issue(
      `\`${key}\` already says which entity is meant`,
      'Keep one of `id`, `gid`, `originId`.',
    );
  }
  if (key === undefined) return () => null;
  const { text } = compileField(at.member(key), scope);
  // Compiled even if it is not used, so that its errors are reported.
  const source = compileSource(at.member('source'), scope, needs);
  return key === 'originId' ? byOriginId(text, source) : byEntityId(text);
}

function compileSource(at: Cursor, scope: Scope, needs: Needs): EvaluateText | null {
  if (at.isAbsent) return null;
  const { constant, text } = compileField(at, scope);
  if (constant === null) needs.anySourceGroup = true;
  else needs.sourceGroups.add(constant);
  return text;
}

function byEntityId(text: EvaluateText): Resolve {
  return (frame, alias) => {
    const id = text(frame);
    if (!id) return null;
    const entity = parseEntityId(id);
    if (entity === null) return { target: null, viewId: id };
    return referenceTo({ ...entity, environmentId: frame.build.input.environmentId, alias });
  };
}

function byOriginId(text: EvaluateText, source: EvaluateText | null): Resolve {
  return (frame, alias) => {
    const originId = text(frame);
    if (!originId) return null;
    return referenceByOriginId(
      frame.build.input,
      alias,
      originId,
      source === null ? null : (source(frame) ?? ''),
    );
  };
}

/** @param group source group; null: the source of the entity itself */
export function referenceByOriginId(
  input: BuildInput,
  alias: string,
  originId: string,
  group: string | null,
): ResolvedReference {
  const { environmentId, entity } = input;
  if (group === null) return referenceTo({ environmentId, sourceId: entity.sourceId, originId, alias });
  const sourceId = input.resolveSource(group);
  if (sourceId !== null) return referenceTo({ environmentId, sourceId, originId, alias });
  // There is no source id. The group's alias in its place still shows what the reference means.
  return { target: null, viewId: formatViewId({ environmentId, sourceId: group, originId, alias }) };
}

function referenceTo(view: ViewRef): ResolvedReference {
  return isAlias(view.alias) ? { target: view, viewId: null } : { target: null, viewId: formatViewId(view) };
}
