import { hash } from 'node:crypto';
import { Failure } from '../../lib/failure.ts';
import type { Row } from '../csv.ts';

/** 256 MB of slots, three quarters full. */
const maxSlots = 1 << 24;
const maxLoad = 0.75;

/**
 * The rows that were seen, as 128 bits each: ten million rows fit in 256 MB, however long they are.
 *
 * `add` throws Failure `resource_limit` beyond twelve million different rows.
 */
export class RowSet {
  #slots = new BigUint64Array(2 * 1024);
  #count = 0;

  /** Whether the row is new. */
  add(row: Row): boolean {
    const digest = hash('sha256', JSON.stringify(row), 'buffer');
    // Zero marks a free slot, so no row may be it.
    const high = digest.readBigUInt64LE(0) | 1n;
    const low = digest.readBigUInt64LE(8);
    if (this.#count >= (this.#slots.length / 2) * maxLoad) this.#grow();
    return this.#insert(high, low);
  }

  #insert(high: bigint, low: bigint): boolean {
    const slots = this.#slots;
    const capacity = slots.length / 2;
    for (let slot = Number(low & BigInt(capacity - 1)); ; slot = (slot + 1) % capacity) {
      const found = slots[slot * 2];
      if (found === high && slots[slot * 2 + 1] === low) return false;
      if (found !== 0n) continue;
      slots[slot * 2] = high;
      slots[slot * 2 + 1] = low;
      this.#count++;
      return true;
    }
  }

  #grow(): void {
    const old = this.#slots;
    if (old.length / 2 >= maxSlots) {
      throw new Failure('resource_limit', 'There are more than twelve million different rows to tell apart.');
    }
    this.#slots = new BigUint64Array(old.length * 2);
    this.#count = 0;
    for (let at = 0; at < old.length; at += 2) {
      const high = old[at] ?? 0n;
      if (high !== 0n) this.#insert(high, old[at + 1] ?? 0n);
    }
  }
}
