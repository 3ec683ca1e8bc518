import type { Json } from '../../contract/json.ts';
import { chain, type Resumable, repeat } from '../../lib/cooperative-yield.ts';
import type { Build } from '../build/build.ts';
import type { CodeValue, Hole } from '../build/code-call.ts';
import { EntityValue } from '../build/entity-value.ts';
import type { BodyWriter } from '../build/view-body.ts';
import { Frame } from '../language/scope.ts';
import { writePartial } from '../property/partial.ts';
import { referenceByOriginId } from '../property/reference.ts';
import { lookupOf } from './code-run.ts';
import type { CodeProgram } from './program.ts';

/** Writes the value that code returned, with its holes filled. */
export function writeCodeValue(
  build: Build,
  { texts, holes }: CodeValue,
  body: BodyWriter,
  program: CodeProgram,
): Resumable<void> {
  return repeat((at) => {
    const text = texts[at];
    if (text === undefined) return false;
    body.mark(text);
    const hole = holes[at];
    if (hole === undefined) return true;
    body.enter(hole.path);
    return chain(writeHole(build, hole, body, program), () => {
      body.leave();
      return true;
    });
  });
}

function writeHole(build: Build, hole: Hole, body: BodyWriter, program: CodeProgram): Resumable<void> {
  switch (hole.kind) {
    case 'reference':
      return body.reference(referenceByOriginId(build.input, hole.alias, hole.originId, hole.sourceGroup));
    case 'references':
      return writeReferences(build, hole, body, program);
    case 'partial': {
      const frame = new Frame(build, build.root);
      return writePartial(frame, hole.alias, () => inputOf(hole), `${program.file} $${hole.path}`, body);
    }
  }
}

function inputOf({ input, isEntity }: Extract<Hole, { kind: 'partial' }>): Json {
  const value: Json = JSON.parse(input);
  // So that JSON schemas can access the properties of an entity as `p`.
  return isEntity ? Object.assign(Object.create(EntityValue.prototype), value) : value;
}

function writeReferences(
  build: Build,
  { alias, lookup, isFirst }: Extract<Hole, { kind: 'references' }>,
  body: BodyWriter,
  program: CodeProgram,
): void {
  const found = lookupOf(build, lookup, program) ?? [];
  const { environmentId } = build.input;
  const write = ({ sourceId, originId }: { sourceId: string; originId: string }) =>
    body.reference({ target: { environmentId, sourceId, originId, alias }, viewId: null });
  const [first] = found;
  if (isFirst) {
    if (first === undefined) body.value('null');
    else write(first);
    return;
  }
  body.mark('[');
  found.forEach((entity, index) => {
    if (index > 0) body.mark(',');
    body.enter(`[${index}]`);
    write(entity);
    body.leave();
  });
  body.mark(']');
}
