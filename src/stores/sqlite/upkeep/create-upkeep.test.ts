import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createUpkeep } from './create-upkeep.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** What is done by whom, while so many summaries and packs are due. */
function startUpkeep({ summaries, packs }: { summaries: number; packs: number }) {
  const done: string[] = []
  const due = { summary: summaries, pack: packs }
  const doOne = (what: 'summary' | 'pack') => () => due[what]-- > 0 && done.push(what) > 0
  return { done, upkeep: createUpkeep({ makeOne: doOne('summary'), packOne: doOne('pack') }) }
}

test('while calls never stop, a round does one thing, so that none of them waits for more than that', () => {
  const { done, upkeep } = startUpkeep({ summaries: 9, packs: 90 })
  const perRound = Array.from({ length: 20 }, () => {
    const before = done.length
    upkeep.wrote()
    vi.advanceTimersByTime(100)
    return done.slice(before)
  })
  const ten = [...Array.from({ length: 9 }, () => ['pack']), ['summary']]
  expect(perRound).toEqual([...ten, ...ten])
  upkeep.stop()
})

test('when calls stop, all that is due is done, and then nothing', () => {
  const { done, upkeep } = startUpkeep({ summaries: 2, packs: 3 })
  upkeep.wrote()
  vi.advanceTimersByTime(1000)
  expect(done).toEqual(['pack', 'summary', 'summary', 'pack', 'pack'])
  expect(vi.getTimerCount()).toBe(0)
  upkeep.stop()
})
