/**
 * Finished answers of delivery and queries (design: a cached answer knows what it read).
 *
 * An entry lists the subjects that were read for it: claim fields, views, missing views, the items of an index. The changes streams name what
 * changed, by digest, and every entry that read it goes. An answer that was computed while one of its subjects changed
 * is never stored, so an entry is always at least as new as the last change that this front has heard of.
 */
import type { ClientPrincipal } from '../../config/configuration.ts';
import type { FinishedAnswer } from '../delivery/finished-answer.ts';

/** The answers of one client, by query. */
class AnswersOf extends Map<string, FinishedAnswer> {
  constructor(public principal: ClientPrincipal) {
    super();
  }
}

interface Entry {
  readonly answer: FinishedAnswer;
  readonly owner: AnswersOf;
  readonly query: string;
  readonly subjects: readonly string[];
  /** Of the computation that made it. */
  readonly serial: number;
  bytes: number;
}

/** An answer under way: it remembers when it began to read. */
export interface Computation {
  /** In changes seen. */
  readonly beganAt: number;
  /** Rises with every computation. */
  readonly serial: number;
}

/** Called for an answer that a change has dropped though it was asked for since it was made, or since the last sweep. */
export type LossListener = (principal: ClientPrincipal, query: string) => void;

const nobody: readonly Entry[] = [];

/** What an entry takes besides its body, roughly. */
const entryBytes = 800;
const subjectBytes = 120;
/** Changes remembered for the computations under way; of a computation that began before more of them nothing is kept. */
export const changesRemembered = 20_000;

export class AnswerCache {
  /** Answers and not entries: each object on the way to an answer is a wait for memory. */
  readonly #byPrincipal = new Map<ClientPrincipal, AnswersOf>();
  /** Most subjects are read by one answer: a set for each of those would be made and let go with every change. */
  readonly #bySubject = new Map<string, Entry | Set<Entry>>();
  /** All of them, in the order of the sweep. */
  readonly #entries = new Map<FinishedAnswer, Entry>();
  /** Subjects that changed while computations were under way -> when, in changes seen. */
  readonly #changedAt = new Map<string, number>();
  /** In changes seen: what changed up to then is not known one by one. */
  #knownSince = 0;
  #changesSeen = 0;
  #lastSerial = 0;
  #computing = 0;
  #bytes = 0;
  #hits = 0;
  #misses = 0;
  #evicted = 0;
  #invalidated = 0;
  #onLoss: LossListener = () => {};

  /** @param bytesMax bound on the memory of all entries; 0 turns the cache off. */
  constructor(private readonly bytesMax: number) {}

  get figures(): Readonly<
    Record<'entries' | 'bytes' | 'hits' | 'misses' | 'evicted' | 'invalidated', number>
  > {
    return {
      entries: this.#entries.size,
      bytes: this.#bytes,
      hits: this.#hits,
      misses: this.#misses,
      evicted: this.#evicted,
      invalidated: this.#invalidated,
    };
  }

  /** False when nothing is ever kept. */
  get isOn(): boolean {
    return this.bytesMax > 0;
  }

  /** Sets who hears of losses. */
  set onLoss(listener: LossListener) {
    this.#onLoss = listener;
  }

  /** @param query text that, with the principal, decides the answer */
  find(principal: ClientPrincipal, query: string): FinishedAnswer | null {
    const answer = this.#byPrincipal.get(principal)?.get(query);
    if (answer === undefined) {
      this.#misses += 1;
      return null;
    }
    answer.wasAskedFor = true;
    this.#hits += 1;
    return answer;
  }

  /** Called before the first read of an answer; every computation ends with `end`. */
  begin(): Computation {
    this.#computing += 1;
    this.#lastSerial += 1;
    return { beganAt: this.#changesSeen, serial: this.#lastSerial };
  }

  /** Called when the computation is over, whatever came of it. */
  end(_computation: Computation): void {
    this.#computing -= 1;
    // Nobody asks any more what changed before now.
    if (this.#computing === 0 && this.#changedAt.size > 0) this.#changedAt.clear();
  }

  /** How many changes were heard of. */
  get changesSeen(): number {
    return this.#changesSeen;
  }

  /**
   * Keeps an answer, unless something that it read has changed since the computation began.
   * @param reads keys of the subjects that were read, as changes are told by
   * @returns whether nothing of it has, as far as this front has heard
   */
  store(
    computation: Computation,
    principal: ClientPrincipal,
    query: string,
    answer: FinishedAnswer,
    reads: () => readonly string[],
  ): boolean {
    // Naming what was read costs a good part of an answer; where nothing is kept and nothing changed nobody asks.
    if (this.bytesMax === 0 && this.#changesSeen === computation.beganAt) return true;
    const subjects = reads();
    const isCurrent =
      this.#knownSince <= computation.beganAt &&
      subjects.every((subject) => (this.#changedAt.get(subject) ?? 0) <= computation.beganAt);
    const bytes = answer.body.length + query.length * 2 + entryBytes + subjects.length * subjectBytes;
    if (!isCurrent || bytes > this.bytesMax / 8) return isCurrent;
    const owner = this.#byPrincipal.get(principal) ?? new AnswersOf(principal);
    this.#byPrincipal.set(principal, owner);
    const former = this.#entryOf(owner.get(query));
    // A slow reader must not bring back what a later one has replaced.
    if (former !== undefined && former.serial > computation.serial) return true;
    if (former !== undefined) this.#drop(former);
    const { serial } = computation;
    const entry: Entry = { answer, owner, query, subjects, serial, bytes };
    owner.set(query, answer);
    this.#entries.set(answer, entry);
    this.#bytes += bytes;
    for (const subject of subjects) this.#addReader(subject, entry);
    this.#sweep();
    return true;
  }

  /** Counts a compressed form that was added to an answer, which may have gone in the meantime. */
  noteGrown(answer: FinishedAnswer, bytes: number): void {
    const entry = this.#entries.get(answer);
    if (entry === undefined) return;
    entry.bytes += bytes;
    this.#bytes += bytes;
    this.#sweep();
  }

  /** Drops what read the subjects. @param digests as `Progress` tells them; null when anything may have changed */
  invalidate(digests: readonly string[] | null): void {
    this.#changesSeen += 1;
    if (digests === null) {
      this.empty();
      return;
    }
    for (const digest of digests) {
      if (this.#computing > 0) this.#changedAt.set(digest, this.#changesSeen);
      for (const entry of this.#readersOf(digest)) {
        this.#drop(entry);
        this.#invalidated += 1;
        if (entry.answer.wasAskedFor) this.#onLoss(entry.owner.principal, entry.query);
      }
    }
    if (this.#changedAt.size > changesRemembered) {
      this.#changedAt.clear();
      this.#knownSince = this.#changesSeen;
    }
  }

  /** Drops everything, what is being computed included. */
  empty(): void {
    this.#changesSeen += 1;
    this.#knownSince = this.#changesSeen;
    this.#byPrincipal.clear();
    this.#bySubject.clear();
    this.#entries.clear();
    this.#bytes = 0;
  }

  /**
   * After a change of configuration: answers go to whoever gets the same now, all others are dropped. Nothing is kept of
   * what is being computed.
   * @param heirOf null: nobody. @param isLasting whether the answer to a query may stay
   */
  bequeath(
    heirOf: (former: ClientPrincipal) => ClientPrincipal | null,
    isLasting: (query: string) => boolean,
  ): void {
    this.#changesSeen += 1;
    this.#knownSince = this.#changesSeen;
    const former = [...this.#byPrincipal];
    this.#byPrincipal.clear();
    for (const [principal, answers] of former) {
      const heir = heirOf(principal);
      const takes = heir !== null && !this.#byPrincipal.has(heir);
      if (takes) {
        this.#byPrincipal.set(heir, answers);
        answers.principal = heir;
      }
      for (const [query, answer] of answers) {
        const entry = this.#entryOf(answer);
        if (entry !== undefined && !(takes && isLasting(query))) this.#drop(entry);
      }
    }
  }

  /** Second chance: what was asked for since the last pass goes to the end of the line, the rest goes. */
  #sweep(): void {
    for (const [answer, entry] of this.#entries) {
      if (this.#bytes <= this.bytesMax) return;
      if (answer.wasAskedFor) {
        answer.wasAskedFor = false;
        this.#entries.delete(answer);
        this.#entries.set(answer, entry);
      } else {
        this.#drop(entry);
        this.#evicted += 1;
      }
    }
  }

  #entryOf(answer: FinishedAnswer | undefined): Entry | undefined {
    return answer === undefined ? undefined : this.#entries.get(answer);
  }

  #drop(entry: Entry): void {
    if (!this.#entries.delete(entry.answer)) return;
    this.#bytes -= entry.bytes;
    entry.owner.delete(entry.query);
    for (const subject of entry.subjects) this.#removeReader(subject, entry);
  }

  #readersOf(subject: string): Iterable<Entry> {
    const readers = this.#bySubject.get(subject);
    if (readers === undefined) return nobody;
    return readers instanceof Set ? readers : [readers];
  }

  #addReader(subject: string, entry: Entry): void {
    const readers = this.#bySubject.get(subject);
    if (readers === undefined) this.#bySubject.set(subject, entry);
    else if (readers instanceof Set) readers.add(entry);
    else if (readers !== entry) this.#bySubject.set(subject, new Set([readers, entry]));
  }

  #removeReader(subject: string, entry: Entry): void {
    const readers = this.#bySubject.get(subject);
    if (readers instanceof Set) readers.delete(entry);
    if (readers === entry || (readers instanceof Set && readers.size === 0)) this.#bySubject.delete(subject);
  }
}
