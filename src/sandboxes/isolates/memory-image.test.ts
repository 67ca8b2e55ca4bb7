import { expect, test } from 'vitest'
import type { IsolatedProgram } from '../../contract/services/isolates.ts'
import { EngineRoom, readyEngine } from './engine-room.ts'
import { loadEngine } from './load-engine.ts'

const engine = await (await loadEngine())()
const memory = engine.getWasmMemory() as unknown as { readonly buffer: ArrayBuffer }
const ready = readyEngine(engine)

const bounds: IsolatedProgram['bounds'] = {
  memoryBytes: 64 * 1024 * 1024,
  computeMs: 60_000,
  calls: 10,
  inputLength: 1_000,
  printedLength: 1_000,
  returnedLength: 1_000,
}

const run = (code: string) => new EngineRoom(ready, { code, at: 0, seed: 'seed', bounds }).start()

/** Nowhere in the text of a program. */
const left = '["left", "by", "a", "program"].join("-")'
const has = (text: string): boolean => Buffer.from(memory.buffer).includes(text)

test('nothing of a program is in the memory of its engine for the next one (NEXT-5, TEN-1)', () => {
  const before = Buffer.from(Buffer.from(memory.buffer))
  const leave = `globalThis.left = ${left}; Array.prototype.map = undefined; new Uint8Array(4e6).fill(7); return left`
  expect(run(leave)).toMatchObject({ type: 'ended', value: '"left-by-a-program"' })
  expect(has('left-by-a-program')).toBe(true)
  expect(ready.image.putBack()).toBe(true)
  expect(has('left-by-a-program')).toBe(false)
  expect(Buffer.from(memory.buffer).equals(before)).toBe(true)
  expect(run('return [typeof left, typeof [].map]')).toMatchObject({ value: '["undefined","function"]' })
})

test('a memory that a program made larger is not put back (NEXT-5)', () => {
  expect(run('return new Uint8Array(4e7).length')).toMatchObject({ type: 'ended', value: '40000000' })
  expect(ready.image.putBack()).toBe(false)
})
