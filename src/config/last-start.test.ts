import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createSchemaChecker } from '../schema/create-schema-checker.ts'
import { rememberStart } from './last-start.ts'
import { loadConfiguration } from './load-configuration.ts'

const gone = 'It is gone since the last start.'

/** A home without files. */
function makeHome() {
  const folder = mkdtempSync(join(tmpdir(), 'handrail-start-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const places = { home: join(folder, 'home'), project: join(folder, 'project') }
  for (const place of Object.values(places)) mkdirSync(place)
  const policy = join(places.home, 'policy.json')
  return {
    writePolicy: () => writeFileSync(policy, '{"rules": [{"effect": "deny", "tools": ["code.*"]}]}'),
    removePolicy: () => rmSync(policy),
    load: () => loadConfiguration(places, createSchemaChecker()),
    remember: ({ said }: ReturnType<typeof loadConfiguration>) => rememberStart(places.home, said),
  }
}

test('a policy that goes away after a start read it, and before it is remembered, is missed by the next start', () => {
  const home = makeHome()
  home.writePolicy()
  const loaded = home.load()
  home.removePolicy()
  home.remember(loaded)
  expect(home.load).toThrow(gone)
})

test('a start that read no policy forgets nothing that another one read', () => {
  const home = makeHome()
  const before = home.load()
  home.writePolicy()
  home.remember(home.load())
  home.remember(before)
  home.removePolicy()
  expect(home.load).toThrow(gone)
})
