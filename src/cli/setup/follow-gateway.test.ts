import fs, { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { GatewayConfiguration } from '../../contract/mcp/serving.ts'
import { followGateway } from './follow-gateway.ts'

test('who may connect stays as it was if the file goes away while a change of it is read', async () => {
  const home = mkdtempSync(join(tmpdir(), 'handrail-gateway-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const path = join(home, 'gateway.json')
  writeFileSync(path, '{"maxConnections": 10}')
  const { openSync } = fs
  const restore = (): void => {
    fs.openSync = openSync
    syncBuiltinESMExports()
  }
  onTestFinished(restore)
  fs.openSync = (...about) => {
    if (about[0] !== path) return openSync(...about)
    restore()
    rmSync(path)
    return openSync(...about)
  }
  syncBuiltinESMExports()
  const changed: GatewayConfiguration[] = []
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => said.mockRestore())
  const following = followGateway(
    { home, current: { port: 1 } },
    { changeCallers: (next) => void changed.push(next) },
  )
  onTestFinished(() => following.close())
  await expect.poll(() => said.mock.calls.length).toBeGreaterThan(0)
  expect(String(said.mock.calls[0]?.[0])).toContain('is gone, and who may connect stays as it was')
  expect(changed).toEqual([])
})
