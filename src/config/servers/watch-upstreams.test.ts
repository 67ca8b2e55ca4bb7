import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { LoadedUpstreams } from './load-upstreams.ts'
import { watchUpstreams } from './watch-upstreams.ts'

test('a change that cannot be taken over is told, ends nothing, and is tried again with the next one (MCP-1)', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'handrail-watch-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'mcp.json')
  const write = (notice: string) => writeFileSync(path, notice)
  write('one')
  const notices: (readonly string[])[] = []
  const failures: unknown[] = []
  let version = 0
  const load = (): LoadedUpstreams => ({ servers: [], faulty: [], notices: [String(version)] })
  const watch = watchUpstreams({
    path,
    load,
    current: load(),
    onChange: async (loaded) => {
      notices.push(loaded.notices)
      if (notices.length === 1) throw new Error('The disk is full.')
    },
    onFailure: (error) => failures.push(error),
  })
  version = 1
  await expect.poll(() => failures.length).toBe(1)
  write('more than that')
  await expect.poll(() => notices).toEqual([['1'], ['1']])
  await watch.close()
  expect(failures.map(String)).toEqual(['Error: The disk is full.'])
})
