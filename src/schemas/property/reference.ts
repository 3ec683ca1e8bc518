import type { Cursor } from '../../contract/config-cursor.ts';
import { formatViewId, parseEntityId, type ViewRef } from '../../contract/ids.ts';
import type { ReferencePiece } from '../build/view-body.ts';
import { type Definition, type DefinitionContext, nullDefinition } from '../definition/definition.ts';
import { compileField, compileRequiredField } from '../language/expression-field.ts';
import type { EvaluateText, Frame, Scope } from '../language/scope.ts';

type Meant = Pick<ReferencePiece, 'target' | 'viewId'>;

type Resolve = (frame: Frame, alias: string) => Meant | null;

const idKeys = ['id', 'gid', 'originId'] as const;

/**
 * `{type: "reference", alias, id | gid | originId, source?}`; an empty or null id gives null
 * (docs/reference/mapping-language.md "reference").
 */
export function compileReference(at: Cursor, { scope, needs }: DefinitionContext): Definition {
  if (at.object(['type', 'alias', ...idKeys, 'source']) === null) return nullDefinition;
  needs.references.push(at);
  const { text: aliasOf } = compileRequiredField(at.member('alias'), scope);
  const resolve = compileTarget(at, scope);
  return {
    mayRefer: true,
    write: (frame, body) => {
      const alias = aliasOf(frame);
      const meant = alias ? resolve(frame, alias) : null;
      if (meant === null) body.value('null');
      else body.reference(meant);
    },
  };
}

function compileTarget(at: Cursor, scope: Scope): Resolve {
  const given = idKeys.filter((key) => !at.member(key).isAbsent);
  const [key, ...others] = given;
  if (key === undefined) at.issue('a reference needs `id` or `originId`', 'Add one: "id": "{item.id}".');
  for (const other of others) {
    at.member(other).issue(
      `\`${key}\` says already which entity is meant`,
      'Keep one of `id`, `gid`, `originId`.',
    );
  }
  if (key === undefined) return () => null;
  const { text } = compileField(at.member(key), scope);
  // Compiled even where it is not used: a mistake in it is one all the same.
  const source = compileSource(at.member('source'), scope);
  return key === 'originId' ? byOriginId(text, source) : byEntityId(text);
}

function compileSource(at: Cursor, scope: Scope): EvaluateText | null {
  return at.isAbsent ? null : compileField(at, scope).text;
}

function byEntityId(text: EvaluateText): Resolve {
  return (frame, alias) => {
    const id = text(frame);
    if (!id) return null;
    const entity = parseEntityId(id);
    if (entity === null) return { target: null, viewId: id };
    return meantView({ ...entity, environmentId: frame.build.input.environmentId, alias });
  };
}

function byOriginId(text: EvaluateText, source: EvaluateText | null): Resolve {
  return (frame, alias) => {
    const originId = text(frame);
    if (!originId) return null;
    const { input } = frame.build;
    const { environmentId, entity } = input;
    if (source === null) return meantView({ environmentId, sourceId: entity.sourceId, originId, alias });
    const group = source(frame) ?? '';
    const sourceId = input.resolveSource(group);
    if (sourceId !== null) return meantView({ environmentId, sourceId, originId, alias });
    // There is no source to name. The group's alias in its place still tells a reader what was meant.
    return { target: null, viewId: formatViewId({ environmentId, sourceId: group, originId, alias }) };
  };
}

const aliasPattern = /^[A-Za-z0-9_-]+$/;

function meantView(view: ViewRef): Meant {
  return aliasPattern.test(view.alias)
    ? { target: view, viewId: null }
    : { target: null, viewId: formatViewId(view) };
}
