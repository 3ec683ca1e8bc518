/** Runs code for a build. Code restarts with the results of its lookups, so it runs once more for each round of lookups. */
import { createHash } from 'node:crypto';
import { type StoredEntity, stampText } from '../../contract/entity.ts';
import { formatEntityId } from '../../contract/ids.ts';
import type { JsonObject } from '../../contract/json.ts';
import { codeAnswersCharactersMax, codeLookupRoundsMax } from '../../contract/limits.ts';
import type { Build } from '../build/build.ts';
import {
  type CodeCall,
  type CodeReply,
  type LookupRequest,
  type ProgramSet,
  programName,
} from '../build/code-call.ts';
import { Frame } from '../language/scope.ts';
import type { LookupQuery } from '../lookup-layout.ts';
import { codeLookup, lookupText } from './code-lookup.ts';
import { type CodeProgram, failurePosition, type ProgramsByName, programsByName } from './program.ts';

export type MadeReply = Extract<CodeReply, { kind: 'made' }>;

const entityTexts = new WeakMap<StoredEntity, string>();
/** The same value is reused when the build of a large entity continues, so that its text is found. */
const largeEntities = new WeakMap<StoredEntity, JsonObject>();

/** JSON text of an entity for code (docs/guide/writing-schemas.md "The entity"); null while it is being made, in steps. */
function codeEntityText(build: Build, entity: StoredEntity): string | null {
  const known = entityTexts.get(entity);
  if (known !== undefined) return known;
  const text = entity.isLarge === true ? largeText(build, entity) : JSON.stringify(codeEntity(entity));
  if (text === undefined) return null;
  entityTexts.set(entity, text);
  return text;
}

function largeText(build: Build, entity: StoredEntity): string | undefined {
  const value = largeEntities.get(entity) ?? codeEntity(entity);
  largeEntities.set(entity, value);
  return build.input.text(value);
}

function codeEntity(entity: StoredEntity): JsonObject {
  const { sourceId, originId, type, url, originParentId, redirects, properties, stamp } = entity;
  return {
    sourceId: `gid://Source/${sourceId}`,
    id: formatEntityId(entity),
    type,
    originId,
    originParentId,
    url,
    updatedAt: stampText(stamp),
    redirects: [...redirects],
    properties,
  };
}

/** All programs of a tenant, to run for builds. */
export class TenantCode {
  readonly #set: ProgramSet;
  readonly #byName: ProgramsByName;

  constructor(
    tenant: string,
    readonly programs: readonly CodeProgram[],
  ) {
    this.#set = setOf(tenant, programs);
    this.#byName = programsByName(programs);
  }

  ofKind(kind: CodeProgram['kind']): CodeProgram[] {
    return this.programs.filter((program) => program.kind === kind);
  }

  /** As `run`, for the entity of the build. */
  runForEntity(
    build: Build,
    program: CodeProgram,
    task: Exclude<CodeCall['task'], 'partial'>,
  ): MadeReply | null {
    return this.run(
      build,
      program,
      task,
      codeEntityText(build, build.input.entity),
      `${task} ${program.alias}`,
    );
  }

  /**
   * The result of the code for `input`. Null while a lookup or the code has not replied, or if it failed; the build records
   * which.
   * @param input JSON text; null while it is not known
   * @param name identifies the run within the build
   */
  run(
    build: Build,
    program: CodeProgram,
    task: CodeCall['task'],
    input: string | null,
    name: string,
  ): MadeReply | null {
    if (input === null) return null;
    const answers = new Map<string, string>();
    let spentMs = 0;
    for (let round = 0; round < codeLookupRoundsMax; round += 1) {
      const beforeMs = spentMs;
      const call = () => ({
        set: this.#set,
        task,
        alias: program.alias,
        input,
        answers: new Map(answers),
        spentMs: beforeMs,
      });
      const reply = build.code(`${name} ${round}`, call);
      if (reply === undefined) return null;
      if (reply.kind === 'made') return this.#made(build, program, reply);
      if (reply.kind === 'failed') {
        const place = failurePosition(this.#byName, reply.failure, program);
        build.fail({ message: reply.failure.message, place });
        return null;
      }
      spentMs += reply.cpuMs;
      if (!this.#answer(build, program, reply.lookups, answers)) return null;
      if (charactersOf(answers) > codeAnswersCharactersMax) {
        const message = `the lookups of the schema give more than ${codeAnswersCharactersMax} characters`;
        build.fail({ message, place: program.file });
        return null;
      }
    }
    const message = `the schema waits for more than ${codeLookupRoundsMax} lookups one after the other`;
    build.fail({ message, place: program.file });
    return null;
  }

  #made(build: Build, { file }: CodeProgram, reply: MadeReply): MadeReply {
    for (const { kind, message } of reply.findings) build.report({ kind, place: file, message });
    return reply;
  }

  /** @returns false while a lookup has no result yet, or its text is not known */
  #answer(
    build: Build,
    program: CodeProgram,
    lookups: readonly LookupRequest[],
    answers: Map<string, string>,
  ): boolean {
    let isComplete = true;
    for (const request of lookups) {
      const found = lookupOf(build, request, program);
      const text = found === null ? null : answerText(build, found);
      if (text === null) isComplete = false;
      else answers.set(lookupText(request), text);
    }
    return isComplete;
  }
}

function setOf(owner: string, programs: readonly CodeProgram[]): ProgramSet {
  const codes = programs.map(({ kind, alias, code }) => [programName(kind, alias), code] as const);
  const id = createHash('sha256').update(JSON.stringify(codes)).digest('hex').slice(0, 32);
  return { id, owner, programs: new Map(codes) };
}

/** Builds run several times, and builds of a batch share results, so the texts of results are cached. */
const answerTexts = new WeakMap<readonly StoredEntity[], string>();

/** JSON text of the entities that a lookup found; null while the text of one is being made. */
function answerText(build: Build, found: readonly StoredEntity[]): string | null {
  const known = answerTexts.get(found);
  if (known !== undefined) return known;
  const texts = found.map((entity) => codeEntityText(build, entity));
  if (texts.includes(null)) return null;
  const text = `[${texts.join(',')}]`;
  answerTexts.set(found, text);
  return text;
}

function charactersOf(answers: ReadonlyMap<string, string>): number {
  let characters = 0;
  for (const text of answers.values()) characters += text.length;
  return characters;
}

/** Queries are cached by request, because they do not depend on the entity. */
const queries = new WeakMap<LookupRequest, LookupQuery>();

/** The entities that a lookup of code found; null while they are not known. */
export function lookupOf(
  build: Build,
  request: LookupRequest,
  program: CodeProgram,
): readonly StoredEntity[] | null {
  const query = queries.get(request) ?? queryOf(build, request, program);
  // In a large build the id of a query may be provisional.
  if (!build.isLarge) queries.set(request, query);
  return build.result(query);
}

function queryOf(build: Build, request: LookupRequest, { file }: CodeProgram): LookupQuery {
  const query = codeLookup(request).query(new Frame(build, build.root));
  return { ...query, place: `${file} ${query.place}` };
}
