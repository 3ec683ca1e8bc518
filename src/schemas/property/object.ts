/**
 * Properties with values of any shape: objects of definitions, and values that a path selects, as they are or merged into an
 * object.
 */
import type { Cursor } from '../../contract/config-cursor.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { namesOf } from '../../contract/large-json/parse-in-parts.ts';
import { chain, type Resumable, repeat, Suspended } from '../../lib/cooperative-yield.ts';
import { memberStep } from '../../lib/text-position.ts';
import type { BodyWriter } from '../build/view-body.ts';
import { compilePath, type PathSelector } from '../json-path/json-path.ts';
import {
  copyDefinition,
  type Definition,
  type DefinitionContext,
  nullDefinition,
  type Write,
} from '../language/definition.ts';
import { parseAt } from '../language/reader.ts';
import type { Frame, Scope } from '../language/scope.ts';
import { dynamicShape, objectShape } from '../shapes.ts';

/** `{type: "object", properties}`. With `*` as its only property the value is whatever the path selects. */
export function compileObject(at: Cursor, context: DefinitionContext): Definition {
  if (at.object(objectShape) === null) return nullDefinition;
  const properties = at.member('properties');
  const [name, ...rest] = properties.names();
  if (name !== '*' || rest.length > 0) return compileProperties(properties, context);
  return copyDefinition(compileStar(properties.member('*'), context.scope));
}

/**
 * A map of property name -> definition, written as an object in the same order. In the position of `*` come the members of the
 * object that its path selects, except those that the map itself defines.
 */
export function compileProperties(at: Cursor, context: DefinitionContext): Definition {
  if (at.anyObject('Write a map of property names to definitions.') === null) return nullDefinition;
  const members = at.names().map((name) => compileMember(at.member(name), name, context));
  const write = members.some((member) => member.kind === 'star')
    ? writeMerged(members, context.placeOf(at))
    : writeNamed(members);
  return { write, mayRefer: members.some((member) => member.mayRefer) };
}

interface NamedMember {
  readonly kind: 'named';
  readonly name: string;
  readonly mayRefer: boolean;
  readonly write: Write;
}

interface StarMember {
  readonly kind: 'star';
  readonly mayRefer: false;
  readonly value: PathSelector['value'];
}

type Member = NamedMember | StarMember;

function compileMember(at: Cursor, name: string, context: DefinitionContext): Member {
  if (name === '*') return { kind: 'star', mayRefer: false, value: compileStar(at, context.scope) };
  const { write, mayRefer } = context.inner(at, context.scope);
  return { kind: 'named', name, mayRefer, write: mayRefer ? followed(memberStep(name), write) : write };
}

/** Tracks the path in the body while the value is written. */
function followed(step: string, write: Write): Write {
  return (frame, body) => {
    body.enter(step);
    return chain(write(frame, body), () => body.leave());
  };
}

const isMore = (): boolean => true;

function writeNamed(members: readonly Member[]): Write {
  const named = members.filter((member) => member.kind === 'named');
  const steps = named.map(({ name, write }, index) => ({
    mark: `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`,
    write,
  }));
  if (steps.length === 0) return (_frame, body) => body.value('{}');
  return (frame, body) => writeSteps(steps, 0, frame, body);
}

interface MemberStep {
  readonly mark: string;
  readonly write: Write;
}

/** @param from index of the first step that is not yet written */
function writeSteps(
  steps: readonly MemberStep[],
  from: number,
  frame: Frame,
  body: BodyWriter,
): Resumable<void> {
  let at = from;
  for (let step = steps[at]; step !== undefined; step = steps[at]) {
    body.mark(step.mark);
    at += 1;
    const written = step.write(frame, body);
    if (written instanceof Suspended) return chain(written, () => writeSteps(steps, at, frame, body));
  }
  body.mark('}');
}

function writeMerged(members: readonly Member[], place: string): Write {
  const own = new Set(members.map((member) => (member.kind === 'named' ? member.name : '*')));
  own.delete('*');
  return (frame, body) => {
    let mark = '{';
    const writeMember = (at: number): Resumable<boolean> => {
      const member = members[at];
      if (member === undefined) return false;
      if (member.kind === 'named') {
        body.mark(`${mark}${JSON.stringify(member.name)}:`);
        mark = ',';
        return chain(member.write(frame, body), isMore);
      }
      return chain(member.value(frame), (value) => {
        if (value !== null && !isJsonObject(value)) {
          const message = 'the value of `*` is not an object; it is left out';
          frame.build.report({ kind: 'valueDoesNotFit', place, message });
        }
        return chain(writeStar(value, own, mark, body), (next) => {
          mark = next;
          return true;
        });
      });
    };
    return chain(repeat(writeMember), () => body.mark(mark === '{' ? '{}' : '}'));
  };
}

/** @returns the punctuation before the next member */
function writeStar(value: Json, own: ReadonlySet<string>, mark: string, body: BodyWriter): Resumable<string> {
  if (!isJsonObject(value)) return mark;
  const names = namesOf(value);
  let before = mark;
  const writeMember = (at: number): Resumable<boolean> => {
    const name = names[at];
    if (name === undefined) return false;
    if (own.has(name)) return true;
    return chain(body.copied(value[name] ?? null), (json) => {
      if (body.member(before, name, json)) before = ',';
      return true;
    });
  };
  return chain(repeat(writeMember), () => before);
}

/**
 * The value that a path selects: `{"*": path}`, with or without `type: "dynamic"`; with the type, `value` is a synonym of `*`.
 */
export function compileDynamic(at: Cursor, { scope }: DefinitionContext): Definition {
  if (at.object(dynamicShape) === null) return nullDefinition;
  return copyDefinition(compileDynamicValue(at, scope));
}

/** True for a dynamic definition without a `type`. */
export function isDynamic(at: Cursor): boolean {
  return !at.member('*').isAbsent && at.member('type').isAbsent;
}

function compileDynamicValue(at: Cursor, scope: Scope): PathSelector['value'] {
  const star = at.member('*');
  const value = at.member('value');
  if (!star.isAbsent && !value.isAbsent)
    value.issue('`*` already says which value is meant', 'Remove one of them.');
  return compileSelector(star.isAbsent && !value.isAbsent ? value : star, scope);
}

/** The value of the key `*` in an object's properties: a path, or a dynamic definition with one. */
function compileStar(at: Cursor, scope: Scope): PathSelector['value'] {
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
