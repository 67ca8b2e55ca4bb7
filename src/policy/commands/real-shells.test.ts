import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { readCommandPattern } from '../../kit/shell/command-pattern.ts'
import { findParts } from './find-parts.ts'
import { coversPart } from './match-commands.ts'
import { rounds } from '../../../test/support/rounds.ts'

const patterns = [readCommandPattern('echo *')]
const pieces = [
  ['echo ', 'mark', ' mark', '; mark', 'true', 'x=', '$x', ' ', '\t', '\r', '\\\n', '\n', '#', '1', '~', '*'],
  [
    ';',
    '&&',
    '||',
    '|',
    '&',
    '(',
    ')',
    '{ ',
    '}',
    '`',
    '$(',
    '<(',
    '>(',
    '((',
    '))',
    '$((',
    '[[ ',
    ' ]]',
    '!',
  ],
  [
    '"',
    "'",
    '\\',
    "$'",
    '$"',
    '${x',
    '${x:-',
    '@P}',
    '<<E\n',
    "<<'E'\n",
    '\nE\n',
    '<<<',
    '>',
    '<',
    '2>&1',
    '/dev/null',
  ],
  [
    'if ',
    'then ',
    'fi',
    'do ',
    'done',
    'for x in ',
    'case x in ',
    'x) ',
    ';;',
    ' esac',
    'f()',
    'function ',
    'a[',
    ']',
  ],
  [
    'time ',
    'coproc ',
    'nohup ',
    'nice ',
    'command ',
    'timeout 1 ',
    'eval ',
    'exec ',
    'trap ',
    'alias ',
    '. ',
    'sh -c ',
  ],
].flat()

/** Lines from pieces of shell syntax in any order, in which a program that leaves a mark may be run. */
const lines = fc
  .array(fc.constantFrom(...pieces), { minLength: 2, maxLength: 9 })
  .map((parts) => `echo ${parts.join('')}`)
  .filter((line) => /mark|>/.test(line))

test('what a rule on echo allows runs nothing but echo in the shells that are here', () => {
  const folder = mkdtempSync(join(tmpdir(), 'handrail-shells-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const project = mkdtempSync(join(folder, 'project-'))
  const mark = join(folder, 'left')
  writeFileSync(join(folder, 'mark'), `#!/bin/sh\n: > ${mark}\n`, { mode: 0o755 })
  const env = { PATH: `${folder}:/usr/bin:/bin`, HOME: project }
  const shells = ['/bin/sh', '/bin/bash'].filter((shell) => existsSync(shell))
  const run = (line: string) => {
    for (const shell of shells)
      spawnSync(shell, ['-c', line], { cwd: project, env, stdio: 'ignore', timeout: 10_000 })
    return { marked: existsSync(mark), files: readdirSync(project) }
  }
  expect(run('echo ok; mark')).toEqual({ marked: true, files: [] })
  rmSync(mark)

  const isAllowed = (line: string) => {
    const operation = {
      kind: 'process',
      executable: '/bin/sh',
      argv: ['sh', '-c', line],
      cwd: project,
    } as const
    const parts = findParts(operation, { writable: [folder], project })
    return parts?.every((part) => coversPart(patterns, part)) === true
  }
  const allowed = [...new Set(fc.sample(lines, 6_000))]
    .filter(isAllowed)
    .slice(0, rounds({ usual: 25, long: 150 }))
  expect(allowed.length).toBeGreaterThan(20)
  for (const line of allowed) expect([line, run(line)]).toEqual([line, { marked: false, files: [] }])
})
