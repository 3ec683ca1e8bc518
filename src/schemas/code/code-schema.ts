/** Wraps schemas in JavaScript in the interface of all schemas (docs/design/code-schemas.md). */
import { Cursor } from '../../contract/config-cursor.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { actionsPerBuildMax, codeUrlsPerViewMax } from '../../contract/limits.ts';
import { chain, type Resumable, repeat } from '../../lib/cooperative-yield.ts';
import { Build } from '../build/build.ts';
import type { BuildInput } from '../build/build-input.ts';
import type { CodeValue, Hole } from '../build/code-call.ts';
import { EntityValue } from '../build/entity-value.ts';
import { BodyWriter, ItemWriter } from '../build/view-body.ts';
import { type PartialDraft, type Partials, reachedBy } from '../definition/definition-digest.ts';
import { destinationWith, UsableHandles, usableUrl } from '../definition/full-schema.ts';
import { readCollations, readIndexFields, readIndexMetadata } from '../definition/index-fields.ts';
import { readIndexTexts } from '../definition/index-texts.ts';
import type { Triggers } from '../definition/triggers.ts';
import { Needs } from '../language/definition.ts';
import { Frame, rootFrame } from '../language/scope.ts';
import { writePartial } from '../property/property.ts';
import { referenceByOriginId } from '../property/reference.ts';
import type { FullSchema, IndexSchema, ResolvedAction, ResolvedDestination, ViewClaims } from '../schema.ts';
import { codeLookup } from './code-lookup.ts';
import { lookupOf, type MadeReply, type TenantCode } from './code-run.ts';
import type { CodeProgram } from './program.ts';

export function codePartial(program: CodeProgram, code: TenantCode): PartialDraft {
  return {
    json: [program.code],
    needs: needsOf(program),
    definition: {
      mayRefer: true,
      write: ({ build, self }, body) => {
        const isLarge = build.isLarge && typeof self === 'object' && self !== null;
        const input = isLarge ? (build.input.text(self) ?? null) : JSON.stringify(self);
        const made = code.run(build, program, 'partial', input, `partial ${program.alias} ${input}`);
        return made === null ? body.value('null') : writeCodeValue(build, made.value, body, program);
      },
    },
  };
}

export function codeFullSchema(program: CodeProgram, code: TenantCode, partials: Partials): FullSchema {
  const { alias, members } = program;
  // Claims and destinations are requested after the view, with the same input, so the reply is cached.
  const replies = new WeakMap<BuildInput, MadeReply | null>();
  const made = (build: Build) => {
    const reply = code.runForEntity(build, program, 'full');
    replies.set(build.input, reply);
    return reply;
  };
  const replyOf = (input: BuildInput) => {
    const known = replies.get(input);
    return known === undefined ? made(new Build(input)) : known;
  };
  const hasActions = members.includes('actions');
  return {
    alias,
    triggers: triggersOf(program),
    ...reachedBy([program.code], needsOf(program), partials),
    claimsUrl: false,
    makesView: members.includes('properties'),
    hasActions,
    claims: (input) => claimsOf(replyOf(input)),
    actions: (input) => resolvedActions(input, code, program),
    destinations: hasActions ? (input) => destinationsOf(replyOf(input)) : () => [],
    build: (input) => {
      const { build } = rootFrame(input);
      const body = new BodyWriter(build);
      const reply = made(build);
      const written = reply === null ? undefined : writeCodeValue(build, reply.value, body, program);
      return chain(written, () => ({ body: body.finish(), ...build.outcome() }));
    },
  };
}

export function codeIndexSchema(program: CodeProgram, code: TenantCode, partials: Partials): IndexSchema {
  const { alias, file, index } = program;
  // Its errors were reported when the program was compiled.
  const at = new Cursor(file, '$.index', index, { issues: [], warnings: [] });
  const fields = readIndexFields(at);
  return {
    alias,
    triggers: triggersOf(program),
    ...reachedBy([program.code, index], needsOf(program), partials),
    fields,
    names: [...fields.keys()],
    texts: readIndexTexts(at),
    collations: readCollations(at),
    metadata: readIndexMetadata(at),
    build: (input) => {
      const { build } = rootFrame(input);
      const body = new ItemWriter(build);
      const reply = code.runForEntity(build, program, 'index');
      if (reply === null) return { fields: {}, text: null, isLarge: false, ...build.outcome() };
      const written = writeCodeValue(build, reply.value, body, program);
      // Code may write members in an order that `JSON.parse` changes.
      return chain(written, () => chain(body.item(build), (item) => ({ ...item, text: null })));
    },
  };
}

function triggersOf({ triggers }: CodeProgram): Triggers {
  const merged = new Map<string, Set<string>>();
  for (const [group, types] of triggers) {
    const known = merged.get(group) ?? new Set<string>();
    for (const type of types) known.add(type);
    merged.set(group, known);
  }
  return merged;
}

function needsOf({ partials, lookups }: CodeProgram): Needs {
  const needs = new Needs();
  needs.anyPartial = partials === null;
  needs.anySourceGroup = true;
  for (const alias of partials ?? []) needs.partials.add(alias);
  for (const lookup of lookups) needs.lookupPlans.push(codeLookup(lookup).plan);
  return needs;
}

function claimsOf(reply: MadeReply | null): ViewClaims {
  if (reply === null) return { url: null, handles: [], areUnknown: true };
  const handles = new UsableHandles();
  for (const handle of reply.handles) handles.add(handle);
  const { pages: urls, ...omitted } = usablePages(reply.urls);
  const claims = { ...handles.claims, ...omitted };
  const [first, ...others] = urls;
  if (first === undefined) return { url: null, ...claims };
  // With a single URL and no `redirects` call, the redirects of the entity lead to it.
  if (others.length === 0 && first.redirects === null) return { url: first.url, ...claims };
  const pages = urls.map(({ url, redirects }) => ({ url, redirects: redirects ?? [] }));
  return { url: first.url, ...claims, pages };
}

type OmittedUrls = Pick<ViewClaims, 'areCut' | 'areUnusable'>;

/** The valid URLs and their redirects, up to the limit. */
function usablePages(urls: MadeReply['urls']): OmittedUrls & { pages: MadeReply['urls'] } {
  const pages: MadeReply['urls'][number][] = [];
  let left = codeUrlsPerViewMax;
  let areCut = false;
  let areUnusable = false;
  const isUsable = (url: string): boolean => {
    const usable = usableUrl(url) !== null;
    // An empty URL is how code says that there is none.
    areUnusable ||= !usable && url !== '';
    return usable;
  };
  for (const { url, redirects } of urls) {
    if (!isUsable(url)) continue;
    const usable = redirects?.filter(isUsable) ?? null;
    areCut ||= left < 1 + (usable?.length ?? 0);
    if (left === 0) break;
    const kept = usable?.slice(0, left - 1) ?? null;
    pages.push({ url, redirects: kept });
    left -= 1 + (kept?.length ?? 0);
  }
  return { pages, ...(areCut ? { areCut } : {}), ...(areUnusable ? { areUnusable: true } : {}) };
}

function resolvedActions(input: BuildInput, code: TenantCode, program: CodeProgram): ResolvedAction[] {
  const reply = code.runForEntity(new Build(input), program, 'actions');
  return (reply?.actions ?? []).slice(0, actionsPerBuildMax).flatMap(({ alias, sourceGroup, originId }) => {
    const sourceId = sourceGroup === null ? input.entity.sourceId : input.resolveSource(sourceGroup);
    return sourceId === null || originId === null ? [] : [{ alias, sourceId, originId }];
  });
}

function destinationsOf(reply: MadeReply | null): ResolvedDestination[] {
  // The last call for a webhook counts.
  const byAlias = new Map(reply?.destinations.map(({ alias, options }) => [alias, options]));
  return [...byAlias].map(([alias, options]) => destinationWith(alias, isJsonObject(options) ? options : {}));
}

/** Writes the value that code returned, with its holes filled. */
function writeCodeValue(
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
