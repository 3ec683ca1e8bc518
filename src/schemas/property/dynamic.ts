import type { Cursor } from '../../contract/config-cursor.ts';
import { chain } from '../../lib/cooperative-yield.ts';
import { type Definition, type DefinitionContext, nullDefinition } from '../definition/definition.ts';
import { compilePath, type PathSelector } from '../json-path/json-path.ts';
import { parseAt } from '../language/reader.ts';
import type { Scope } from '../language/scope.ts';
import { dynamicShape } from '../shapes.ts';

/**
 * The value that a path selects: `{"*": path}`, with or without `type: "dynamic"`; with the type, `value` may be
 * for `*`.
 */
export function compileDynamic(at: Cursor, { scope }: DefinitionContext): Definition {
  if (at.object(dynamicShape) === null) return nullDefinition;
  const value = compileDynamicValue(at, scope);
  return { mayRefer: false, write: (frame, body) => chain(value(frame), (selected) => body.copy(selected)) };
}

/** True for a definition that is dynamic by its key alone. */
export function isDynamic(at: Cursor): boolean {
  return !at.member('*').isAbsent && at.member('type').isAbsent;
}

function compileDynamicValue(at: Cursor, scope: Scope): PathSelector['value'] {
  const star = at.member('*');
  const value = at.member('value');
  if (!star.isAbsent && !value.isAbsent)
    value.issue('`*` says already which value is meant', 'Remove one of them.');
  return compileSelector(star.isAbsent && !value.isAbsent ? value : star, scope);
}

/** What the key `*` of an object's properties selects: a path, or a dynamic definition around one. */
export function compileStar(at: Cursor, scope: Scope): PathSelector['value'] {
  const isDefinition = !at.member('*').isAbsent || at.member('type').json === 'dynamic';
  if (!isDefinition) return compileSelector(at, scope);
  at.object(dynamicShape);
  return compileDynamicValue(at, scope);
}

function compileSelector(at: Cursor, scope: Scope): PathSelector['value'] {
  const text = at.text('Write a path such as `$.p.content`.');
  const path = text === null ? null : parseAt(at, () => compilePath(text, scope));
  return path?.value ?? (() => null);
}
