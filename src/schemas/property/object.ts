import type { Cursor } from '../../contract/config-cursor.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { memberStep } from '../../lib/json-place.ts';
import type { BodyWriter } from '../build/view-body.ts';
import {
  type Definition,
  type DefinitionContext,
  nullDefinition,
  type Write,
} from '../definition/definition.ts';
import type { Evaluate } from '../language/scope.ts';
import { compileStar } from './dynamic.ts';

/** `{type: "object", properties}`. With `*` as its only property the value is whatever the path selects. */
export function compileObject(at: Cursor, context: DefinitionContext): Definition {
  if (at.object(['type', 'properties']) === null) return nullDefinition;
  const properties = at.member('properties');
  const [name, ...rest] = properties.names();
  if (name !== '*' || rest.length > 0) return compileProperties(properties, context);
  const value = compileStar(properties.member('*'), context.scope);
  return { mayRefer: false, write: (frame, body) => body.value(JSON.stringify(value(frame))) };
}

/**
 * A map of property name -> definition, written as an object in its order. Where `*` stands, the members of the object
 * that its path selects are put, except those that the map defines itself.
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
  readonly value: Evaluate;
}

type Member = NamedMember | StarMember;

function compileMember(at: Cursor, name: string, context: DefinitionContext): Member {
  if (name === '*') return { kind: 'star', mayRefer: false, value: compileStar(at, context.scope) };
  const { write, mayRefer } = context.inner(at, context.scope);
  return { kind: 'named', name, mayRefer, write: mayRefer ? followed(memberStep(name), write) : write };
}

/** Keeps the body's path while the value is written. */
function followed(step: string, write: Write): Write {
  return (frame, body) => {
    body.enter(step);
    write(frame, body);
    body.leave();
  };
}

function writeNamed(members: readonly Member[]): Write {
  const named = members.filter((member) => member.kind === 'named');
  const steps = named.map(({ name, write }, index) => ({
    mark: `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`,
    write,
  }));
  if (steps.length === 0) return (_frame, body) => body.value('{}');
  return (frame, body) => {
    for (const { mark, write } of steps) {
      body.mark(mark);
      write(frame, body);
    }
    body.mark('}');
  };
}

function writeMerged(members: readonly Member[], place: string): Write {
  const own = new Set(members.map((member) => (member.kind === 'named' ? member.name : '*')));
  own.delete('*');
  return (frame, body) => {
    let mark = '{';
    for (const member of members) {
      if (member.kind === 'named') {
        body.mark(`${mark}${JSON.stringify(member.name)}:`);
        member.write(frame, body);
        mark = ',';
        continue;
      }
      const value = member.value(frame);
      if (value !== null && !isJsonObject(value)) {
        const message = 'the value of `*` is no object; it is left out';
        frame.build.report({ kind: 'valueDoesNotFit', place, message });
      }
      mark = writeStar(value, own, mark, body);
    }
    body.mark(mark === '{' ? '{}' : '}');
  };
}

/** @returns the mark that stands before the next member */
function writeStar(value: Json, own: ReadonlySet<string>, mark: string, body: BodyWriter): string {
  if (!isJsonObject(value)) return mark;
  let before = mark;
  for (const name of Object.keys(value)) {
    if (own.has(name)) continue;
    if (body.member(before, name, JSON.stringify(value[name] ?? null))) before = ',';
  }
  return before;
}
