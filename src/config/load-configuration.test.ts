import fs, { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createSchemaChecker } from '../schema/create-schema-checker.ts'
import { loadConfiguration } from './load-configuration.ts'

const policy = { rules: [{ effect: 'deny', tools: ['code.*'] }] }

/** Does it once, just before this file is opened. */
function justBefore(path: string, act: () => void): void {
  const { openSync } = fs
  const restore = (): void => {
    fs.openSync = openSync
    syncBuiltinESMExports()
  }
  fs.openSync = (...about) => {
    if (about[0] !== path) return openSync(...about)
    restore()
    act()
    return openSync(...about)
  }
  syncBuiltinESMExports()
  onTestFinished(restore)
}

test('a policy that moves to the other file while both are read is not missed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'handrail-load-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const places = { home: join(folder, 'home'), project: join(folder, 'project') }
  for (const place of Object.values(places)) mkdirSync(place)
  const own = join(places.home, 'policy.json')
  writeFileSync(own, JSON.stringify(policy))
  justBefore(own, () => {
    writeFileSync(join(places.home, 'gateway.json'), JSON.stringify({ policy }))
    rmSync(own)
  })
  expect(loadConfiguration(places, createSchemaChecker()).policy).toMatchObject(policy)
})
