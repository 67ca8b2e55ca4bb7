import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openLayer } from '../layers/layer.ts'
import { createHiddenLook } from '../visible/hidden-look.ts'
import { findHidden } from './find-hidden.ts'

const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
const user = uid === 0 ? { uid: 4_242, gid: 4_242, other: true } : { uid, gid, other: false }

test('what lies in a copy is hidden there, also if it is gone from its place by now (FS-20)', async () => {
  const project = mkdtempSync(join(tmpdir(), 'handrail-test-'))
  onTestFinished(() => rmSync(project, { recursive: true, force: true }))
  mkdirSync(join(project, 'conf'))
  for (const name of ['.env', 'own.key', 'plain'])
    writeFileSync(join(project, 'conf', name), 'KEY=hidden-value')
  await using layer = await openLayer({ roots: [project], user, launcher: undefined, way: 'copy' })
  for (const name of ['.env', 'own.key']) rmSync(join(project, 'conf', name))
  const hidden = createHiddenLook({ home: '/', path: process.env['PATH'] ?? '', launcher: undefined })
  const look = { globs: ['**/.env', `${project}/conf/*.key`, '/etc'], places: [project], signals: [] }
  const { files } = await findHidden(look, { isolation: { hidden }, layer })
  expect(files.toSorted()).toEqual(['.env', 'own.key'].map((name) => join(project, 'conf', name)))
})
