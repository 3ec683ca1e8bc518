/**
 * What must hold of every partition after every single script (design promises 3 and 4), read from the keys themselves:
 * epochs, checkpoints and commits never go back, a checkpoint never passes the stream, and nobody whose epoch was fenced
 * puts anything anywhere.
 */
import assert from 'node:assert/strict';
import { tagOf } from '../../../src/store/keys.ts';
import { unpack } from '../../../src/store/pack.ts';
import type { Keyspace } from './keyspace.ts';
import { ErrorReply, type Reply } from './reply.ts';

export interface FencingCheck {
  /** @throws AssertionError */
  afterScript(name: string, keys: readonly string[], words: readonly string[], reply: Reply): void;
}

interface OwnerState {
  readonly epoch: number;
  readonly checkpoint: number;
  readonly commits: number;
}

/** Scripts that put something into a partition in the name of another one's owner. */
const outsideScripts = new Set(['claim', 'mark', 'register', 'touch']);
/** Scripts of a partition's own owner, whose first word is its epoch. */
const ownerScripts = new Set(['commit', 'intend']);

export function fencingCheck(keyspace: Keyspace): FencingCheck {
  const known = new Map<string, OwnerState>();

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
    afterScript(name, keys, words, reply) {
      const tag = keys[0]?.slice(0, keys[0].indexOf('}') + 1) ?? '';
      if (!(reply instanceof ErrorReply)) {
        if (ownerScripts.has(name)) {
          assert.equal(Number(words[0]), ownerState(tag).epoch, `${name} of an owner of ${tag} that is none`);
        }
        if (outsideScripts.has(name)) {
          for (const reached of name === 'claim' ? claimTags(words[3] ?? '') : [tag]) {
            const fence = Number(keyspace.hash(`${reached}:fence`).get(words[0] ?? '') ?? 0);
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

/** Tags of the partitions whose claims a call holds; the first word of each group is its fence. */
function claimTags(packed: string): string[] {
  const groups = unpack<[fence: string][]>(Buffer.from(packed, 'latin1'));
  return groups.map(([fence]) => tagOf(fence));
}
