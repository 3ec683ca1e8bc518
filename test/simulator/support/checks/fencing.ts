/**
 * What must hold for every partition after every script (design promises 3 and 4), read from the keys themselves: epochs,
 * fences, checkpoints and commits never go back; a checkpoint never exceeds the stream; an owner works only after all older
 * ones are fenced everywhere; a fenced owner never writes; a commit announces all invalidations that were sent for it.
 */
import assert from 'node:assert/strict';
import { unpack } from '../../../../src/store/codec/pack.ts';
import { keys, tagOf } from '../../../../src/store/keys.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import { ErrorReply, type Reply } from '../redis/reply.ts';

export interface FencingCheck {
  /** @throws AssertionError */
  afterScript(name: string, scriptKeys: readonly string[], words: readonly string[], reply: Reply): void;
}

interface OwnerState {
  readonly epoch: number;
  readonly checkpoint: number;
  readonly commits: number;
}

/** Scripts that write to a partition on behalf of another one's owner. */
const outsideScripts = new Set(['claim', 'invalidate', 'register', 'touch']);
/** The partition that jobs name when they send invalidations. */
const noPartition = '-1';
/** An invalidation that an owner sent to a partition. */
interface SentInvalidation {
  readonly partition: number;
  readonly sequence: number;
}

export function fencingCheck(keyspace: Keyspace, tags: readonly string[]): FencingCheck {
  const known = new Map<string, OwnerState>();
  const fences = new Map<string, number>();
  /** Invalidations by partition and epoch of the owner that sent them, until its next commit. */
  const invalidations = new Map<string, SentInvalidation[]>();

  const fenceOf = (tag: string, partition: string): number =>
    Number(keyspace.hash(keys.fence(tag)).get(partition) ?? 0);

  const checkFences = (partition: string): void => {
    for (const tag of tags) {
      const name = `${tag} ${partition}`;
      const fence = fenceOf(tag, partition);
      assert.ok(fence >= (fences.get(name) ?? 0), `fence of ${partition} in ${tag} went back to ${fence}`);
      fences.set(name, fence);
    }
  };

  const checkOlderFenced = (tag: string, epoch: number): void => {
    const partition = String(tags.indexOf(tag));
    for (const reached of tags) {
      const fence = fenceOf(reached, partition);
      assert.ok(
        fence >= epoch,
        `${tag} is in use in epoch ${epoch}, but ${reached} still accepts epoch ${fence}`,
      );
    }
  };

  const checkInvalidationsAnnounced = (tag: string, epoch: string): void => {
    const name = `${tags.indexOf(tag)} ${epoch}`;
    const downstream = [...keyspace.hash(keys.downstream(tag))];
    for (const { partition, sequence } of invalidations.get(name) ?? []) {
      const announced = downstream
        .filter(([field]) => field.endsWith(`:${partition}`))
        .map(([, last]) => Number(last));
      assert.ok(
        Math.max(0, ...announced) >= sequence,
        `${tag} announced invalidations in ${partition} up to ${announced}, but ${sequence} was sent`,
      );
    }
    invalidations.delete(name);
  };

  /** @param epoch in which an owner did something in its own partition */
  const checkIsOwner = (name: string, tag: string, epoch: string): void => {
    assert.equal(Number(epoch), ownerState(tag).epoch, `${name} by a worker that does not own ${tag}`);
    checkOlderFenced(tag, Number(epoch));
  };

  const ownerState = (tag: string): OwnerState => {
    const owner = keyspace.hash(`${tag}:owner`);
    return {
      epoch: Number(owner.get('epoch') ?? 0),
      checkpoint: Number(owner.get('checkpoint') ?? 0),
      commits: Number(owner.get('commits') ?? 0),
    };
  };

  const checkOwner = (tag: string): void => {
    const before = known.get(tag) ?? { epoch: 0, checkpoint: 0, commits: 0 };
    const now = ownerState(tag);
    for (const field of ['epoch', 'checkpoint', 'commits'] as const) {
      assert.ok(
        now[field] >= before[field],
        `${field} of ${tag} went from ${before[field]} to ${now[field]}`,
      );
    }
    assert.ok(
      now.commits <= before.commits + 1,
      `${tag} went from commit ${before.commits} to ${now.commits}`,
    );
    const end = Number(keyspace.hash(`${tag}:clock`).get('stream') ?? 0);
    assert.ok(
      now.checkpoint <= end,
      `checkpoint ${now.checkpoint} of ${tag} is behind its stream's end ${end}`,
    );
    known.set(tag, now);
  };

  return {
    afterScript(name, scriptKeys, words, reply) {
      const tag = scriptKeys[0]?.slice(0, scriptKeys[0].indexOf('}') + 1) ?? '';
      if (!(reply instanceof ErrorReply)) {
        if (name === 'intend') checkIsOwner(name, tag, words[0] ?? '');
        if (name === 'commit') {
          for (const [committed, epoch] of commitsOf(words[1] ?? '')) {
            checkIsOwner(name, committed, epoch);
            checkInvalidationsAnnounced(committed, epoch);
            checkOwner(committed);
          }
        }
        if (name === 'fence') checkFences(words[0] ?? '');
        if (name === 'invalidate' && words[0] !== noPartition) {
          const sender = `${words[0]} ${words[1]}`;
          const sent = { partition: tags.indexOf(tag), sequence: Number(reply) };
          invalidations.set(sender, [...(invalidations.get(sender) ?? []), sent]);
        }
        if (outsideScripts.has(name)) {
          for (const reached of name === 'claim' ? claimTags(words[3] ?? '') : [tag]) {
            const fence = fenceOf(reached, words[0] ?? '');
            assert.ok(
              Number(words[1]) >= fence,
              `${name} in ${reached} of epoch ${words[1]}, fenced below ${fence}`,
            );
          }
        }
      }
      if (keyspace.has(`${tag}:owner`)) checkOwner(tag);
    },
  };
}

/** Partitions that a call commits; the first words of each are the key of its owner and the epoch. */
function commitsOf(packed: string): (readonly [tag: string, epoch: string])[] {
  const commits = unpack<[owner: string, epoch: string][]>(Buffer.from(packed, 'latin1'));
  return commits.map(([owner, epoch]) => [tagOf(owner), epoch]);
}

/** Tags of the partitions whose claims a call contains; the first word of each group is the key of its fence. */
function claimTags(packed: string): string[] {
  const groups = unpack<[fence: string][]>(Buffer.from(packed, 'latin1'));
  return groups.map(([fence]) => tagOf(fence));
}
